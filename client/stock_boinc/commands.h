// quorate-client boinc attach, status, detach: a stock BOINC client on this
// computer works for the project in our own's place. Each throws Error when it
// cannot do what it was asked. as_json: what is printed is one JSON value.
#pragma once

#include <string>

#include "client/stock_boinc/local_client.h"

namespace quorate::client {

struct StockAttachOptions {
  std::string address;  // URL[#FINGERPRINT]
  std::string key;      // of an account there; empty: a new one is made
  std::string name;     // of the volunteer, for a new account
};
void attach_stock(const StockOptions& client, const StockAttachOptions& options,
                  bool as_json);

void show_stock(const StockOptions& client, bool as_json);

// is_agreed: nobody is asked whether the tasks may go.
void detach_stock(const StockOptions& client, const std::string& address,
                  bool is_agreed, bool as_json);

}  // namespace quorate::client
