# cmake --install build/release [--prefix FOLDER]: the three programs, their
# manual pages and completion, licences, and what a volunteer's desktop and an
# operator's systemd start them with.
include(GNUInstallDirs)

install(TARGETS quorate quorate-client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# Beside the others: they look for it there first.
install(TARGETS quorate-worker RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES packaging/desktop/quorate-client.desktop
        DESTINATION ${CMAKE_INSTALL_DATADIR}/applications)
install(FILES packaging/desktop/quorate.svg
        DESTINATION ${CMAKE_INSTALL_DATADIR}/icons/hicolor/scalable/apps)

# quorate_unit(FROM NAME FOLDER): a unit that starts what is installed. The
# prefix is only certain then.
function(quorate_unit from name folder)
  install(CODE "
    set(QUORATE_BIN \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/${from}\"
                   \"${PROJECT_BINARY_DIR}/units/${folder}/${name}\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/units/${folder}/${name}
          DESTINATION ${folder})
endfunction()
# systemd looks there for every prefix that desktops use, also ~/.local.
quorate_unit(packaging/desktop/quorate-client.service.in quorate-client.service
             ${CMAKE_INSTALL_DATADIR}/systemd/user)
# Also for /usr/local; lib and not lib64, whatever the machine.
foreach(unit quorate-client.service quorate@.service)
  quorate_unit(packaging/systemd/${unit}.in ${unit} lib/systemd/system)
endforeach()
foreach(users quorate-client quorate-server)
  install(FILES packaging/systemd/${users}.sysusers
          DESTINATION lib/sysusers.d RENAME ${users}.conf)
endforeach()
install(FILES packaging/systemd/quorate-server.tmpfiles
        DESTINATION lib/tmpfiles.d RENAME quorate-server.conf)

install(DIRECTORY ${PROJECT_BINARY_DIR}/share/man
                  ${PROJECT_BINARY_DIR}/share/bash-completion
        DESTINATION ${CMAKE_INSTALL_DATADIR})
include(cmake/bill_of_materials.cmake)
