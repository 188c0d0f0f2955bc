// What happens when this library is preloaded under a program of the other MPI library (decision
// 88). Handles have 4 bytes in the one and 8 in the other, so no function here may even pass a call
// on: the program starts anew, without this library and without the MPI library that it brings;
// with hycoll's for the program's MPI library, where that is installed beside this one.

#include "preload/session/other_library.h"

#include <dlfcn.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "preload/session/next.h"

namespace hycoll::preload {
namespace {

#ifdef OPEN_MPI
constexpr bool kIsForOpenMpi = true;
constexpr const char* kOtherFlavour = "mpich";
#else
constexpr bool kIsForOpenMpi = false;
constexpr const char* kOtherFlavour = "openmpi";
#endif

constexpr int kCannotStepOut = 2;

/// The file that was loaded at an address; empty if there is none.
std::string file_at(const void* address) {
  Dl_info info{};
  const bool is_known = dladdr(address, &info) != 0 && info.dli_fname != nullptr;
  return is_known ? info.dli_fname : "";
}

/// A symbol of a loaded file's or of what it is linked with; null if there is none, or if the file
/// is the program itself.
const void* symbol_from(const std::string& file, const char* name) {
  if (file.empty()) return nullptr;
  void* const handle = dlopen(file.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle == nullptr) return nullptr;
  const void* const symbol = dlsym(handle, name);
  dlclose(handle);  // it stays loaded
  return symbol;
}

/// Whether the MPI library with this function is of the family that this library is built for. Open
/// MPI alone has such an object.
bool is_of_own_family(const void* function) {
  return (symbol_from(file_at(function), "ompi_mpi_comm_world") != nullptr) == kIsForOpenMpi;
}

void say(const std::string& mpi_library, const std::string& consequence) {
  std::fprintf(stderr,
               "hycoll (preloaded): %s is built for %s, but the program's MPI library is %s: %s. "
               "Preload the library that is built for that one (tools/install --mpi %s)\n",
               file_at(reinterpret_cast<const void*>(&say)).c_str(),
               kIsForOpenMpi ? "Open MPI" : "MPICH", mpi_library.c_str(), consequence.c_str(),
               kOtherFlavour);
}

/// The files that LD_PRELOAD names, by spaces or colons.
std::vector<std::string> preloaded_files() {
  const char* const list = std::getenv("LD_PRELOAD");
  std::vector<std::string> files(1);
  for (const char* at = list; at != nullptr && *at != '\0'; ++at) {
    if (*at == ' ' || *at == ':') {
      files.emplace_back();
    } else {
      files.back() += *at;
    }
  }
  std::erase(files, "");
  return files;
}

/// hycoll's library for the other family, if it is installed beside this one; empty otherwise.
std::string file_for_other_family(const std::filesystem::path& own) {
  namespace fs = std::filesystem;
  const fs::path other =
      own.parent_path() / ("libhycoll_pmpi-" + std::string(kOtherFlavour) + ".so");
  std::error_code failed;
  // Not itself under a wrong name: it would start the program anew for ever.
  const bool is_there = fs::exists(other, failed) && !fs::equivalent(other, own, failed);
  return is_there && !failed ? other.string() : "";
}

enum class Preloaded { not_this_library, without_this_library, with_other_family };

/// Puts what is for the other family in this library's place in LD_PRELOAD, or nothing.
Preloaded forget_own_file() {
  namespace fs = std::filesystem;
  const fs::path own = file_at(reinterpret_cast<const void*>(&forget_own_file));
  const std::string instead = file_for_other_family(own);
  std::string list;
  bool was_there = false;
  for (std::string file : preloaded_files()) {
    std::error_code failed;
    const bool is_own = file.find('/') == std::string::npos
                            ? fs::path(file) == own.filename()
                            : fs::equivalent(file, own, failed) && !failed;
    was_there = was_there || is_own;
    if (is_own) file = instead;
    if (!file.empty()) list += (list.empty() ? "" : " ") + file;
  }
  if (list.empty()) {
    unsetenv("LD_PRELOAD");
  } else {
    setenv("LD_PRELOAD", list.c_str(), 1);
  }
  if (!was_there) return Preloaded::not_this_library;
  return instead.empty() ? Preloaded::without_this_library : Preloaded::with_other_family;
}

/// Returns only if it cannot.
void start_program_anew() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> words;
  for (std::string word; std::getline(file, word, '\0');) words.push_back(word);
  if (words.empty()) return;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv("/proc/self/exe", arguments.data());
}

void step_out(const void* init) {
  const std::string mpi_library = file_at(init);
  const Preloaded anew = forget_own_file();
  if (anew != Preloaded::not_this_library) {
    if (anew == Preloaded::without_this_library && is_first_process()) {
      say(mpi_library, "hycoll stays out");
    }
    start_program_anew();
  }
  say(mpi_library, "the program cannot run with both, and ends");
  std::_Exit(kCannotStepOut);
}

/// When a program has been loaded together with its MPI library: before any code of its own.
__attribute__((constructor)) void look_at_program() {
  const auto* const init = reinterpret_cast<const void*>(next<int(int*, char***)>("PMPI_Init"));
  if (init != nullptr && !is_of_own_family(init)) step_out(init);
}

}  // namespace

bool is_first_process() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

void step_out_for_other_library(const void* caller) {
  const std::string file = file_at(caller);
  const void* const init = symbol_from(file, "PMPI_Init");
  const bool is_from_here = file_at(init) == file_at(reinterpret_cast<const void*>(&step_out));
  if (init != nullptr && !is_from_here && !is_of_own_family(init)) step_out(init);
}

}  // namespace hycoll::preload
