#include "preload/session/session.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "collectives/processes/memory_charge.h"
#include "collectives/processes/process_map.h"
#include "core/base/errors.h"
#include "preload/session/persistent_calls.h"
#include "threading/transport/mpi/end_job.h"

namespace hycoll::preload {
namespace {

int world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

std::string broadcast(std::string text) {
  int length = static_cast<int>(text.size());
  PMPI_Bcast(&length, 1, MPI_INT, 0, MPI_COMM_WORLD);
  text.resize(static_cast<std::size_t>(length));
  PMPI_Bcast(text.data(), length, MPI_CHAR, 0, MPI_COMM_WORLD);
  return text;
}

/// On rank 0 every process's text, by rank; elsewhere nothing.
std::vector<std::string> gather(const std::string& text) {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const bool is_root = world_rank() == 0;
  const auto count = is_root ? static_cast<std::size_t>(size) : 0;
  std::vector<int> lengths(count);
  const int length = static_cast<int>(text.size());
  PMPI_Gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  std::vector<int> offsets(count);
  int total = 0;
  for (std::size_t rank = 0; rank < count; ++rank) {
    offsets[rank] = total;
    total += lengths[rank];
  }
  std::string all(static_cast<std::size_t>(total), ' ');
  PMPI_Gatherv(text.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(), MPI_CHAR,
               0, MPI_COMM_WORLD);
  std::vector<std::string> texts;
  for (std::size_t rank = 0; rank < count; ++rank) {
    texts.push_back(all.substr(static_cast<std::size_t>(offsets[rank]),
                               static_cast<std::size_t>(lengths[rank])));
  }
  return texts;
}

/// One small message, for every program pays it in MPI_Init.
bool is_the_same_everywhere(std::string_view text) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  for (const char character : text) {
    digest = (digest ^ static_cast<unsigned char>(character)) * 0x100000001b3u;
  }
  // The largest digest, and what the smallest one lacks.
  std::array<std::uint64_t, 2> extremes = {digest, ~digest};
  PMPI_Allreduce(MPI_IN_PLACE, extremes.data(), 2, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return extremes[0] == ~extremes[1];
}

int error_class(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument:
      return MPI_ERR_ARG;
    case ErrorKind::user_operator:
      return MPI_ERR_OP;
    case ErrorKind::mismatch:
    case ErrorKind::unsupported:
    case ErrorKind::environment:
    case ErrorKind::timeout:
      break;
  }
  return MPI_ERR_OTHER;
}

/// A code of MPI's with this class and text, made once per class: MPI has no way to give one back.
/// MPICH forgets the text of codes in its own classes; the text then goes to standard error, and
/// the class itself is the code.
int error_code_of(int known_class, const std::string& text) {
  static std::mutex mutex;
  static std::map<int, int> codes;  // by class; guarded by mutex
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = codes.try_emplace(known_class, known_class);
  int& code = entry->second;
  if (is_new && PMPI_Add_error_code(known_class, &code) != MPI_SUCCESS) code = known_class;
  const std::string kept = text.substr(0, MPI_MAX_ERROR_STRING - 1);
  std::array<char, MPI_MAX_ERROR_STRING> told{};
  int length = 0;
  int told_class = MPI_SUCCESS;
  const bool is_told = code != known_class &&
                       PMPI_Add_error_string(code, kept.c_str()) == MPI_SUCCESS &&
                       PMPI_Error_string(code, told.data(), &length) == MPI_SUCCESS &&
                       PMPI_Error_class(code, &told_class) == MPI_SUCCESS &&
                       told_class == known_class && kept == told.data();
  if (is_told) return code;
  code = known_class;
  std::fprintf(stderr, "%s\n", text.c_str());
  return code;
}

}  // namespace

Session& Session::instance() noexcept {
  // Never destroyed: MPI may be finalised by a function that runs at the process's end.
  static Session* const session = new Session;
  return *session;
}

void Session::open() {
  int is_initialized = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized == 0 || is_open_.load(std::memory_order_relaxed)) return;
  const bool same = settings_are_the_same();
  try {
    settings_ = Settings::from_environment();
  } catch (const std::exception& error) {
    if (!same || world_rank() == 0) {
      end_job(std::string("hycoll (preloaded): ") + error.what(), 2);
    }
  }
  if (!same) return;
  try {
    ProcessMap::explore_world();
  } catch (const std::exception& error) {
    end_job(std::string("hycoll (preloaded): ") + error.what(), 2);
  }
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Session::forget, &attachment_key_, nullptr);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Session::end, &end_key_, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, end_key_, this);
  is_open_.store(true, std::memory_order_release);  // pairs with the load in find()
}

bool Session::settings_are_the_same() const {
  const std::string own = environment_text();
  if (is_the_same_everywhere(own)) return true;
  const std::string first = broadcast(own);
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rank = world_rank();
  int differing = own == first ? size : rank;
  PMPI_Allreduce(MPI_IN_PLACE, &differing, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (differing == rank) {
    std::fprintf(stderr,
                 "hycoll (preloaded): the variables HYCOLL_* of processes 0 and %d differ, so the "
                 "MPI library serves everything. Process 0 has\n%sand process %d has\n%sStart all "
                 "processes with the same\n",
                 rank, first.c_str(), rank, own.c_str());
  }
  return differing == size;
}

Attachment* Session::find_anew(MPI_Comm communicator) {
  // Pairs with the store in open().
  if (!is_open_.load(std::memory_order_acquire) || communicator == MPI_COMM_NULL) return nullptr;
  void* value = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(communicator, attachment_key_, &value, &is_there) != MPI_SUCCESS) {
    return nullptr;
  }
  std::unique_ptr<Attachment> made;
  if (is_there == 0) {
    made = std::make_unique<Attachment>(communicator, report());
    if (PMPI_Comm_set_attr(communicator, attachment_key_, made.get()) != MPI_SUCCESS) {
      return nullptr;
    }
    value = made.get();
  }
  auto* const attachment = static_cast<Attachment*>(value);
  const std::lock_guard lock(mutex_);
  if (made != nullptr) attachments_.push_back(made.release());
  recent_.remember(communicator, attachment);
  return attachment;
}

void Session::finish_nonblocking(MPI_Comm communicator) {
  if (!NonblockingCalls::instance().is_busy()) return;
  Attachment* const attachment = find(communicator);
  if (attachment != nullptr) attachment->finish_nonblocking();
}

int Session::forget(MPI_Comm /*communicator*/, int /*key*/, void* value, void* /*state*/) {
  Session& session = instance();
  auto* const attachment = static_cast<Attachment*>(value);
  {
    const std::lock_guard lock(session.mutex_);
    std::erase(session.attachments_, attachment);
    recent_.forget(attachment);
  }
  attachment->lose_communicator();
  attachment->give_up();
  return MPI_SUCCESS;
}

int Session::end(MPI_Comm /*communicator*/, int /*key*/, void* /*value*/, void* /*state*/) {
  instance().close();
  return MPI_SUCCESS;
}

void Session::close() noexcept {
  if (!is_open_.exchange(false)) return;
  // While hycoll's communicators still have their mappings.
  if (settings_.reports()) {
    report_.set_shared_bytes(MemoryCharge::peak_bytes());
    report_.set_heap_usage(heap_usage());
  }
  {
    const std::lock_guard lock(mutex_);
    recent_.forget_all();
  }
  PersistentCalls::instance().close();
  for (Attachment* const attachment : attachments_) attachment->close();
  NonblockingCalls::instance().close();
  if (settings_.reports()) {
    report_.set_plans(plan_statistics());  // of all that have been
    write_report();
  }
}

void Session::write_report() {
  try {
    const std::vector<std::string> all = gather(report_.serialise());
    if (all.empty()) return;
    for (std::size_t rank = 1; rank < all.size(); ++rank) report_.merge(all[rank]);
    const int size = static_cast<int>(all.size());
    if (settings_.report == "1") {
      std::fputs(report_.text(size).c_str(), stderr);
      return;
    }
    std::FILE* const file = std::fopen(settings_.report.c_str(), "w");
    const std::string json = report_.json(size);
    const bool written =
        file != nullptr && std::fwrite(json.data(), 1, json.size(), file) == json.size();
    if (file == nullptr || std::fclose(file) != 0 || !written) {
      std::fprintf(stderr,
                   "hycoll (preloaded): HYCOLL_REPORT='%s' cannot be written; name a file in a "
                   "directory that exists, or 1 for text on standard error\n",
                   settings_.report.c_str());
    }
  } catch (const std::exception& error) {
    std::fprintf(stderr, "hycoll (preloaded): no report: %s\n", error.what());
  }
}

int raise_error(MPI_Comm communicator, const Error& error) {
  const int code = error_code_of(error_class(error.kind()), std::string("hycoll: ") + error.what());
  PMPI_Comm_call_errhandler(communicator, code);
  return code;
}

}  // namespace hycoll::preload
