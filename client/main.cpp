#include "client/commands/program.h"

int main(int argc, char** argv) {
  return quorate::client::run_program("quorate-client", argc, argv, nullptr);
}
