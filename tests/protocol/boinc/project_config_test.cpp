#include "protocol/boinc/project_config.h"

#include <doctest/doctest.h>

#include "base/error.h"

namespace quorate::boinc {

TEST_CASE("the master page names the scheduler in both forms") {
  CHECK(scheduler_links("https://example.org/proj/cgi") ==
        "<link rel=\"boinc_scheduler\" href=\"https://example.org/proj/cgi\">\n"
        "<!--\n<scheduler>https://example.org/proj/cgi</scheduler>\n-->\n");
}

TEST_CASE("a URL that would break the master page is refused") {
  for (std::string url :
       {std::string("https://e/\"><script>"), std::string("https://e/ x"),
        std::string("https://e/\n"), std::string(201, 'a')}) {
    CHECK_THROWS_WITH_AS(scheduler_links(url),
                         doctest::Contains("what a URL is made of"), Error);
  }
}

TEST_CASE("the configuration has the words that clients know") {
  ProjectConfig config;
  config.name = "Letters & <Digits>";
  config.master_url = "https://example.org/proj/";
  config.platforms = {"x86_64-pc-linux-gnu"};
  CHECK(write(config) ==
        "<project_config>\n"
        "  <name>Letters &amp; &lt;Digits&gt;</name>\n"
        "  <master_url>https://example.org/proj/</master_url>\n"
        "  <web_rpc_url_base>https://example.org/proj/</web_rpc_url_base>\n"
        "  <min_passwd_length>6</min_passwd_length>\n"
        "  <platforms>\n"
        "    <platform>\n"
        "      <platform_name>x86_64-pc-linux-gnu</platform_name>\n"
        "    </platform>\n"
        "  </platforms>\n"
        "</project_config>\n");

  config.is_closed_to_new_accounts = true;
  config.terms_of_use = "Be kind.";
  std::string text = write(config);
  CHECK(text.find("<account_creation_disabled/>") != std::string::npos);
  CHECK(text.find("<client_account_creation_disabled/>") != std::string::npos);
  CHECK(text.find("<terms_of_use>Be kind.</terms_of_use>") !=
        std::string::npos);
}

}  // namespace quorate::boinc
