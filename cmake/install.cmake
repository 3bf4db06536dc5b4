# cmake --install build/release [--prefix FOLDER]: the three programs, their
# manual pages and completion, licences, and what a volunteer's desktop and an
# operator's systemd start them with.
include(GNUInstallDirs)

install(TARGETS quorate quorate-client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Beside the others: they look for it there first.
install(TARGETS quorate-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES packaging/desktop/quorate-client.desktop
        DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
# The prefix is only certain now.
install(CODE "
  set(QUORATE_BIN \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/desktop/quorate-client.service.in\"
                 \"${PROJECT_BINARY_DIR}/quorate-client.service\" @ONLY)
  configure_file(\"${PROJECT_SOURCE_DIR}/packaging/systemd/quorate@.service.in\"
                 \"${PROJECT_BINARY_DIR}/quorate@.service\" @ONLY)")
# systemd looks there for every prefix that desktops use, also ~/.local.
install(FILES ${PROJECT_BINARY_DIR}/quorate-client.service
        DESTINATION ${CMAKE_INSTALL_DATADIR}/systemd/user)
# Also for /usr/local; lib and not lib64, whatever the machine.
install(FILES ${PROJECT_BINARY_DIR}/quorate@.service
        DESTINATION lib/systemd/system)
install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man
                  ${PROJECT_BINARY_DIR}/share/bash-completion
        DESTINATION ${CMAKE_INSTALL_DATADIR})
include(cmake/bill_of_materials.cmake)
