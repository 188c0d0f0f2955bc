#include "core/simulation/simgrid_network.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "core/base/errors.h"
#include "core/base/own_folder.h"
#include "core/simulation/simgrid_plugin.h"
#include "core/simulation/simgrid_xml.h"

namespace hycoll {
namespace {

constexpr const char* kLibrary = "libhycoll_simgrid.so";

/// A file that is removed with this object.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& text) {
    const char* folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/hycoll-platform-XXXXXX.xml", folder != nullptr ? folder : "/tmp");
    const int file = mkstemps(path_.data(), 4);
    const bool is_written =
        file >= 0 && std::cmp_equal(write(file, text.data(), text.size()), text.size());
    if (file >= 0) close(file);
    if (!is_written) {
      throw Error(ErrorKind::environment,
                  fmt::format("cannot write '{}', with the platform for SimGrid. Set TMPDIR to a "
                              "folder that can be written to",
                              path_));
    }
  }
  ~TemporaryFile() { unlink(path_.c_str()); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Beside this program, where an installed one has its libraries, or where the loader looks. Null
/// if there is none.
void* load_library() {
  const std::filesystem::path folder = own_folder();
  for (const std::string& path : {(folder / kLibrary).string(),
                                  (folder / "../lib" / kLibrary).string(), std::string(kLibrary)}) {
    if (void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

/// Stays loaded, for SimGrid has threads' data and handlers of its own.
void* library() {
  static void* const loaded = load_library();
  return loaded;
}

template <class Function>
Function* find(const char* name) {
  return library() == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library(), name));
}

}  // namespace

std::string simgrid_version() {
  const auto version = find<decltype(hycoll_simgrid_version)>("hycoll_simgrid_version");
  return version == nullptr ? "" : version();
}

std::unique_ptr<FlowNetwork> make_simgrid_network(const std::string& argument,
                                                  const Platform& platform) {
  const auto open = find<decltype(hycoll_open_simgrid)>("hycoll_open_simgrid");
  if (open == nullptr) {
    throw Error(ErrorKind::environment,
                fmt::format("{}: this hycoll has no SimGrid, which simulates networks: there is no "
                            "{} that can be loaded. Install SimGrid 3.32 or later with its headers "
                            "(Debian: libsimgrid-dev) and build hycoll again",
                            argument, kLibrary));
  }
  if (const auto* file = std::get_if<SimGridFile>(&platform.network)) {
    return std::unique_ptr<FlowNetwork>(open(argument.c_str(), file->path.c_str(), true));
  }
  const TemporaryFile xml(to_simgrid_xml(platform));
  return std::unique_ptr<FlowNetwork>(open(argument.c_str(), xml.path().c_str(), false));
}

}  // namespace hycoll
