#ifndef HYCOLL_TOOLS_APPLICATION_PROGRAM_H_
#define HYCOLL_TOOLS_APPLICATION_PROGRAM_H_

#include <mpi.h>

#include <exception>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>

#include "tools/application/command_line.h"

/// What the programs that show hycoll in an application have in common.
namespace hycoll::application {

/// In MPI_COMM_WORLD.
int process_rank();

/// The first line, or what of it comes before the first comma, of what the MPI library says of
/// itself.
std::string mpi_library_name();

/// "MPI_THREAD_MULTIPLE", or what else MPI provides.
std::string provided_thread_level();

/// A file for records, opened before the work, so that a wrong path is found out in time: by rank
/// 0, none for "" and "-" (standard output). Collective; throws Error (invalid_argument) everywhere
/// if it cannot be written.
std::ofstream open_json(const std::string& path);

/// On rank 0: the text for people, and the records, which go to the file, or to standard output if
/// the path is "-": then the text goes to standard error.
void print_results(const std::string& text, const std::string& records, const std::string& path,
                   std::ofstream& file);

/// MPI_Init_thread with this level, then `run`, whose result is the exit status, or, if that is
/// empty, what is printed instead; MPI_Finalize. Errors of the input are the same on all processes,
/// which end in good order; any other may have struck this process only, while the others wait for
/// it: then the job ends.
int run_program(std::string_view name, int thread_level, int argc, char** argv,
                const std::function<int()>& run, const InsteadOfRunning& instead);

}  // namespace hycoll::application

#endif  // HYCOLL_TOOLS_APPLICATION_PROGRAM_H_
