#ifndef HYCOLL_TOOLS_COMMAND_MEASURING_LAUNCH_H_
#define HYCOLL_TOOLS_COMMAND_MEASURING_LAUNCH_H_

#include <string>
#include <vector>

namespace hycoll::command {

/// Where ranks may run: on all cores, or each on a core of its own, which they share in turn where
/// there are fewer.
enum class RankBinding { none, core };

/// "none" and "core". Throws Error (invalid_argument), which names the argument, for other names.
RankBinding parse_binding(const std::string& argument, const std::string& name);

/// Whether a launcher has started this process as a rank of a job.
bool is_in_job();

/// The command that runs a program on `ranks` MPI ranks of this machine, under the mpiexec that
/// belongs to the library that this command is linked with: without a terminal, as any user, with
/// more ranks than cores if need be.
std::vector<std::string> mpiexec_command(int ranks, RankBinding binding,
                                         const std::vector<std::string>& program);

/// The same program with these libraries preloaded: paths, separated by colons. hycoll's prepares
/// itself at the first call, unless the environment has HYCOLL_ATTACH_AFTER. Throws Error
/// (invalid_argument), which names the argument, for one that cannot be read.
std::vector<std::string> with_preloaded(const std::string& argument, const std::string& libraries,
                                        const std::vector<std::string>& program);

/// The path of the running program. Throws Error (environment) if the system does not tell.
std::string own_path();

/// The arguments that the running program was started with, without its name, and without `option`
/// and its value.
std::vector<std::string> own_arguments_without(const std::string& option);

/// The running program with its arguments, but for --ranks: what each of those ranks is to run.
std::vector<std::string> program_of_ranks();

/// Outside of a job replaces the running program by so many ranks of it. Errors: as
/// replace_process().
void start_ranks_outside_of_job(int ranks);

/// Replaces the running program. Throws Error (environment) if that fails.
[[noreturn]] void replace_process(const std::vector<std::string>& command);

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_MEASURING_LAUNCH_H_
