# What the programs are made of, as an SPDX 2.3 document:
# build/*/quorate.spdx.json. NOTICE says the same to people; install_test checks
# that no shared library of a program is missing here.

# Name | Debian package | licence
set(QUORATE_MATERIALS
  "Boost|libboost-dev|BSL-1.0"
  "OpenSSL|libssl3|Apache-2.0"
  "curl|libcurl4|curl"
  "ICU|libicu72|Unicode-3.0"
  "SQLite|libsqlite3-0|blessing"
  "SQLiteCpp|libsqlitecpp-dev|MIT"
  "JSON for Modern C++|nlohmann-json3-dev|MIT"
  "spdlog|libspdlog-dev|MIT"
  "fmt|libfmt9|MIT"
  "CLI11|libcli11-dev|BSD-3-Clause"
  "toml++|libtomlplusplus-dev|MIT"
  "pugixml|libpugixml-dev|MIT"
  "mimalloc|libmimalloc2.0|MIT"
  "zlib|zlib1g|Zlib"
  "libpng|libpng16-16|libpng-2.0"
  "Highway|libhwy-dev|Apache-2.0"
  "libseccomp|libseccomp-dev|LGPL-2.1-only"
  "libsystemd|libsystemd0|LGPL-2.1-or-later"
  "BOINC client libraries|libboinc7|LGPL-3.0-or-later"
  "Chart.js|libjs-chart.js|MIT"
  "GNU C library|libc6|LGPL-2.1-or-later"
  "GNU C++ library|libstdc++6|GPL-3.0-or-later WITH GCC-exception-3.1"
  "GCC support library|libgcc-s1|GPL-3.0-or-later WITH GCC-exception-3.1")
if(QUORATE_NVCC)
  list(APPEND QUORATE_MATERIALS "CUDA runtime|cuda-cudart-dev-13-0|NOASSERTION")
endif()

# The version that is installed; NOASSERTION on systems that are not Debian.
function(quorate_installed_version package out)
  execute_process(COMMAND dpkg-query -W -f=\${Version} ${package}
                  OUTPUT_VARIABLE version RESULT_VARIABLE failed ERROR_QUIET)
  if(failed OR version STREQUAL "")
    set(version NOASSERTION)
  endif()
  set(${out} "${version}" PARENT_SCOPE)
endfunction()

# purl: may be empty.
function(quorate_spdx_package out id name version license purl)
  set(reference "")
  if(NOT purl STREQUAL "")
    set(reference ",
   \"externalRefs\": [{\"referenceCategory\": \"PACKAGE-MANAGER\",
     \"referenceType\": \"purl\", \"referenceLocator\": \"${purl}\"}]")
  endif()
  set(${out} "{\"SPDXID\": \"SPDXRef-${id}\", \"name\": \"${name}\",
   \"versionInfo\": \"${version}\", \"downloadLocation\": \"NOASSERTION\",
   \"filesAnalyzed\": false, \"licenseConcluded\": \"${license}\",
   \"licenseDeclared\": \"${license}\",
   \"copyrightText\": \"NOASSERTION\"${reference}}" PARENT_SCOPE)
endfunction()

quorate_spdx_package(packages Quorate Quorate ${PROJECT_VERSION} Apache-2.0 "")
set(relations "{\"spdxElementId\": \"SPDXRef-DOCUMENT\",
   \"relationshipType\": \"DESCRIBES\",
   \"relatedSpdxElement\": \"SPDXRef-Quorate\"}")
foreach(material IN LISTS QUORATE_MATERIALS)
  string(REPLACE "|" ";" fields "${material}")
  list(GET fields 0 name)
  list(GET fields 1 package)
  list(GET fields 2 license)
  string(REGEX REPLACE "[^a-zA-Z0-9.-]" "-" id ${package})
  quorate_installed_version(${package} version)
  set(purl "")
  if(NOT version STREQUAL "NOASSERTION")
    string(REPLACE ":" "%3A" locator "${version}")
    string(REPLACE "+" "%2B" locator "${package}@${locator}")
    set(purl "pkg:deb/debian/${locator}")
  endif()
  quorate_spdx_package(one ${id} "${name}" "${version}" "${license}" "${purl}")
  string(APPEND packages ",\n  ${one}")
  string(APPEND relations ",\n  {\"spdxElementId\": \"SPDXRef-Quorate\",
   \"relationshipType\": \"DEPENDS_ON\",
   \"relatedSpdxElement\": \"SPDXRef-${id}\"}")
endforeach()
string(UUID uuid NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8
       NAME "${packages}" TYPE SHA1)
string(TIMESTAMP now "%Y-%m-%dT%H:%M:%SZ" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/quorate.spdx.json
"{\"spdxVersion\": \"SPDX-2.3\", \"dataLicense\": \"CC0-1.0\",
 \"SPDXID\": \"SPDXRef-DOCUMENT\", \"name\": \"quorate-${PROJECT_VERSION}\",
 \"documentNamespace\": \"urn:uuid:${uuid}\",
 \"creationInfo\": {\"created\": \"${now}\",
  \"creators\": [\"Tool: quorate-build-${PROJECT_VERSION}\"]},
 \"packages\": [
  ${packages}],
 \"relationships\": [
  ${relations}]}
")

install(FILES ${PROJECT_BINARY_DIR}/quorate.spdx.json LICENSE NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
