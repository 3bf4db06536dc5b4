#include <utility>

// Asio 1.74 needs <utility> first.
#include "server/http/exchange.h"
#include "server/http/responder.h"

namespace quorate {

EventStream::EventStream(std::shared_ptr<Exchange> exchange)
    : exchange_(std::move(exchange)) {}

EventStream& EventStream::operator=(EventStream&& other) noexcept {
  EventStream ended(std::move(*this));
  exchange_ = std::move(other.exchange_);
  return *this;
}

EventStream::~EventStream() {
  if (exchange_) exchange_->end_events();
}

bool EventStream::push(std::string_view text) {
  return exchange_ && exchange_->push(text);
}

bool EventStream::is_open() const {
  return exchange_ && exchange_->is_open();
}

std::string format_event(std::string_view name, std::string_view data) {
  std::string text = "event: " + std::string(name) + '\n';
  while (true) {
    std::size_t end = data.find('\n');
    text += "data: ";
    text += data.substr(0, end);
    text += '\n';
    if (end == std::string_view::npos) return text + '\n';
    data.remove_prefix(end + 1);
  }
}

Responder::Responder(std::shared_ptr<Exchange> exchange)
    : exchange_(std::move(exchange)) {}

Responder& Responder::operator=(Responder&& other) noexcept {
  Responder dropped(std::move(*this));
  exchange_ = std::move(other.exchange_);
  return *this;
}

Responder::~Responder() {
  if (exchange_) exchange_->drop();
}

void Responder::send(Response response) {
  check(exchange_ != nullptr, "a Responder answers once");
  exchange_->answer(std::move(response));
  exchange_.reset();
}

void Responder::send_made(std::function<Response()> make) {
  check(exchange_ != nullptr, "a Responder answers once");
  exchange_->answer(std::move(make));
  exchange_.reset();
}

EventStream Responder::start_events() {
  check(exchange_ != nullptr, "a Responder answers once");
  exchange_->answer(StartEvents());
  return EventStream(std::move(exchange_));
}

bool Responder::is_open() const {
  return exchange_ && exchange_->is_open();
}

void Responder::on_close(std::function<void()> callback) {
  check(exchange_ != nullptr, "a Responder answers once");
  exchange_->on_close(std::move(callback));
}

}  // namespace quorate
