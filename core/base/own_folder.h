#ifndef HYCOLL_CORE_BASE_OWN_FOLDER_H_
#define HYCOLL_CORE_BASE_OWN_FOLDER_H_

#include <filesystem>

namespace hycoll {

/// The folder of the running program, from which what is installed with it is found; "" if the
/// system does not tell.
std::filesystem::path own_folder();

}  // namespace hycoll

#endif  // HYCOLL_CORE_BASE_OWN_FOLDER_H_
