# Sources that are one compilation with Bazel, those of a library, are one here, too: join_sources(TARGET).
#
# Each of them takes longer to read what all of them include than for the rest.
file(GLOB_RECURSE build_files CONFIGURE_DEPENDS collectives/BUILD core/BUILD heap/BUILD numa/BUILD preload/BUILD threading/BUILD
     tools/BUILD)
foreach(build_file IN LISTS build_files)
  get_filename_component(folder ${build_file} DIRECTORY)
  file(READ ${build_file} text)
  string(REPLACE "\n)\n" ";" rules "${text}")
  foreach(rule IN LISTS rules)
    if((rule MATCHES "hycoll_library" OR rule MATCHES "compiled_together = True") AND NOT rule MATCHES "compiled_together = False"
       AND rule MATCHES " name = \"([^\"]+)\"")
      string(MAKE_C_IDENTIFIER ${folder}/${CMAKE_MATCH_1} group)
      string(REGEX MATCHALL "[a-z0-9_/]+\\.cc" names "${rule}")
      list(TRANSFORM names PREPEND ${folder}/)
      set_source_files_properties(${names} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endforeach()

function(join_sources target)
  if(NOT HYCOLL_APART)
    # As in tools/build/defs.bzl.
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP
                          UNITY_BUILD_CODE_BEFORE_INCLUDE "#pragma GCC diagnostic ignored \"-Wsubobject-linkage\"")
  endif()
endfunction()
