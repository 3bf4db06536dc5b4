// Where this machine is reached in its networks.
#pragma once

#include <string>
#include <vector>

namespace quorate::client {

// The unicast addresses of the interfaces that are up, as text, IPv4 first: no
// loopback, no link-local ones (an IPv6 one of these means something else on
// every machine). Empty if the system does not tell.
std::vector<std::string> own_addresses();

// True for "localhost", 127.0.0.0/8 and ::1.
bool is_loopback(const std::string& address);

}  // namespace quorate::client
