# Writes what find_package(hycoll) and pkg-config read, with paths that are relative: a prefix may be moved.
#
# package_files: the folder to write to. MPI_FLAVOUR: mpich or openmpi. Where things are below the prefix:
# CMAKE_INSTALL_LIBDIR, CMAKE_INSTALL_INCLUDEDIR, CMAKE_INSTALL_DATADIR. tools/install calls this as a script, CMakeLists.txt includes it.
include(${CMAKE_CURRENT_LIST_DIR}/version.cmake)
include(CMakePackageConfigHelpers)

set(templates ${CMAKE_CURRENT_LIST_DIR})
file(RELATIVE_PATH prefix_from_libraries /prefix/${CMAKE_INSTALL_LIBDIR} /prefix)
string(REGEX REPLACE "/$" "" prefix_from_libraries ${prefix_from_libraries})
configure_file(${templates}/hycoll-config.cmake.in ${package_files}/hycoll-config.cmake @ONLY)
configure_file(${templates}/hycoll.pc.in ${package_files}/hycoll-${MPI_FLAVOUR}.pc @ONLY)
# docs/versions.md
set(compatibility SameMajorVersion)
if(version VERSION_LESS 1)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(${package_files}/hycoll-config-version.cmake VERSION ${version}
                                 COMPATIBILITY ${compatibility})
