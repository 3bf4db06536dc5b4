# Third-party libraries, all from Debian packages (packaging/setup.sh).
find_package(Threads REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(CLI11 2 REQUIRED)
find_package(CURL REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(ICU REQUIRED COMPONENTS uc i18n)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_package(Boost 1.74 REQUIRED)
find_package(doctest REQUIRED)
find_package(pugixml REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(hwy REQUIRED IMPORTED_TARGET libhwy)
# The archive: BOINC clients download the worker as one file.
find_library(SECCOMP_LIBRARY NAMES libseccomp.a REQUIRED)
pkg_check_modules(systemd REQUIRED IMPORTED_TARGET libsystemd)
find_package(mimalloc REQUIRED)

# BOINC's GUI RPC, as the shared library that its licence (LGPL) lets us link;
# it comes without a file for CMake. Headers are <boinc/lib/...>.
find_library(BOINC_LIBRARY NAMES libboinc.so REQUIRED)
find_path(BOINC_INCLUDE_DIR boinc/lib/gui_rpc_client.h REQUIRED)
add_library(BOINC::gui_rpc SHARED IMPORTED)
set_target_properties(BOINC::gui_rpc PROPERTIES
  IMPORTED_LOCATION ${BOINC_LIBRARY}
  INTERFACE_SYSTEM_INCLUDE_DIRECTORIES ${BOINC_INCLUDE_DIR})
