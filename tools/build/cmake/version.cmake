# The variable `version`, as core/base/version.h says.
execute_process(COMMAND ${CMAKE_CURRENT_LIST_DIR}/../version.sh OUTPUT_VARIABLE version COMMAND_ERROR_IS_FATAL ANY)
