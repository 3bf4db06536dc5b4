# cmake --install build/release [--prefix FOLDER]: the three programs, and what
# a volunteer's desktop starts them with.
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
                 \"${PROJECT_BINARY_DIR}/quorate-client.service\" @ONLY)")
# systemd looks there for every prefix that desktops use, also ~/.local.
install(FILES ${PROJECT_BINARY_DIR}/quorate-client.service
        DESTINATION ${CMAKE_INSTALL_DATADIR}/systemd/user)
