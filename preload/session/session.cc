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
#include <utility>

#include "collectives/elements/committed.h"
#include "collectives/elements/error_class.h"
#include "collectives/job/build_identity.h"
#include "collectives/job/process_map.h"
#include "collectives/node/memory_charge.h"
#include "core/base/digest.h"
#include "core/base/errors.h"
#include "core/base/lifetime.h"
#include "preload/session/dying_communicator.h"
#include "preload/session/mistake.h"
#include "preload/session/persistent_calls.h"
#include "threading/observing/call_site.h"
#include "threading/transport/mpi/end_job.h"

namespace hycoll::preload {
namespace {

int world_rank() {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

/// Rank 0's text, on all processes.
std::string broadcast(JointSetup& setup, std::string text) {
  const bool is_own = world_rank() == 0;
  text.resize(static_cast<std::size_t>(setup.least(is_own ? std::ssize(text) : JointSetup::kMost)));
  setup.meet();
  PMPI_Bcast(text.data(), static_cast<int>(text.size()), MPI_CHAR, 0, MPI_COMM_WORLD);
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
bool is_the_same_everywhere(JointSetup& setup, std::string_view text) {
  Digest digest;
  digest.add(text);
  return setup.same(static_cast<std::int64_t>(digest.value()));
}

/// What differs between two processes that do not run the same hycoll with the same settings.
void say_what_differs(int rank, const std::string& first_build, const std::string& build,
                      const std::string& first_settings, const std::string& settings) {
  if (first_build != build) {
    std::fprintf(
        stderr,
        "hycoll (preloaded): process 0 runs hycoll of %s, and process %d of %s, so the MPI "
        "library serves everything. Start all processes with the same library\n",
        first_build.c_str(), rank, build.c_str());
    return;
  }
  std::fprintf(stderr,
               "hycoll (preloaded): the variables HYCOLL_* of processes 0 and %d differ, so the "
               "MPI library serves everything. Process 0 has\n%sand process %d has\n%sStart all "
               "processes with the same\n",
               rank, first_settings.c_str(), rank, settings.c_str());
}

/// Whether all processes run the same hycoll with the same variables; otherwise one says what
/// differs.
bool are_the_same(JointSetup& setup) {
  const std::string build = build_identity();
  const std::string settings = environment_text();
  if (is_the_same_everywhere(setup, build + settings)) return true;
  const std::string first_build = broadcast(setup, build);
  const std::string first_settings = broadcast(setup, settings);
  const bool is_like_first = build == first_build && settings == first_settings;
  const int rank = world_rank();
  const std::int64_t differing = setup.least(is_like_first ? JointSetup::kMost : rank);
  if (differing == rank) say_what_differs(rank, first_build, build, first_settings, settings);
  return differing == JointSetup::kMost;
}

/// Whether MPI_Finalize has been called.
std::atomic<bool> is_finalizing = false;

/// A code of MPI's with this class and text, made once per class: MPI has no way to give one back.
/// MPICH forgets the text of codes in its own classes; the text then goes to standard error, and
/// the class itself is the code. So it is once MPI_Finalize has been called.
int error_code_of(int known_class, const std::string& text) {
  static std::mutex mutex;
  static Immortal<std::map<int, int>> codes;  // by class; guarded by mutex
  if (is_finalizing.load(std::memory_order_relaxed)) {
    std::fprintf(stderr, "%s\n", text.c_str());
    return known_class;
  }
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = codes->try_emplace(known_class, known_class);
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

/// While it lives, errors on a communicator are returned, unless they end the job: then nobody
/// learns of them. (To set that handler again is not what MPICH 4.0 begins with: later errors on
/// intercommunicators crash there.)
class QuietErrors {
 public:
  explicit QuietErrors(MPI_Comm communicator) : communicator_(communicator) {
    PMPI_Comm_get_errhandler(communicator_, &handler_);
    if (is_quiet()) PMPI_Comm_set_errhandler(communicator_, MPI_ERRORS_RETURN);
  }
  ~QuietErrors() {
    if (is_quiet()) PMPI_Comm_set_errhandler(communicator_, handler_);
    PMPI_Errhandler_free(&handler_);
  }
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  bool is_quiet() const noexcept { return handler_ != MPI_ERRORS_ARE_FATAL; }

  MPI_Comm communicator_;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

Session& Session::instance() noexcept {
  static Immortal session([] { return Session(); });
  return *session;
}

void Session::open() {
  int is_initialized = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized == 0 || is_open_.load(std::memory_order_relaxed)) return;
  try {
    const bool same =
        JointSetup::run(MPI_COMM_WORLD, [this](JointSetup& setup) { return read_settings(setup); });
    if (!same) return;
    ProcessMap::explore_world();
  } catch (const std::exception& error) {
    if (world_rank() == 0) {
      std::fprintf(stderr, "hycoll (preloaded): the MPI library serves everything: %s\n",
                   error.what());
    }
    return;
  }
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Session::forget, &attachment_key_, nullptr);
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &Session::end, &end_key_, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, end_key_, this);
  is_open_.store(true, std::memory_order_release);  // pairs with the load in find()
}

bool Session::read_settings(JointSetup& setup) {
  const bool same = are_the_same(setup);
  try {
    settings_ = Settings::from_environment();
  } catch (const Error& error) {
    if (!same || world_rank() == 0) {
      end_job(std::string("hycoll (preloaded): ") + error.what(), 2);
    }
  }
  CallSite::want();  // from the call on in which the first communicator is prepared
  return same;
}

Attachment* Session::find_anew(MPI_Comm communicator) {
  // Pairs with the store in open().
  if (!is_open_.load(std::memory_order_acquire) || communicator == MPI_COMM_NULL) return nullptr;
  if (DyingCommunicator::is_dying(communicator)) return nullptr;
  if (!is_known(communicator) && !is_communicator(communicator)) return nullptr;
  void* value = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(communicator, attachment_key_, &value, &is_there) != MPI_SUCCESS) {
    return nullptr;
  }
  std::unique_ptr<Attachment> made;
  if (is_there == 0) {
    end_retired();
    made = std::make_unique<Attachment>(communicator, report());
    if (PMPI_Comm_set_attr(communicator, attachment_key_, made.get()) != MPI_SUCCESS) {
      return nullptr;
    }
    value = made.get();
  }
  auto* const attachment = static_cast<Attachment*>(value);
  const std::lock_guard lock(mutex_);
  if (made != nullptr) {
    attachments_.push_back(made.release());
    known_.insert(communicator);
  }
  recent_.remember(communicator, attachment);
  return attachment;
}

bool Session::is_known(MPI_Comm communicator) {
  const std::lock_guard lock(mutex_);
  return known_.contains(communicator);
}

bool Session::is_communicator(MPI_Comm communicator) {
  // The program's error handlers would learn of each of these calls, and then of its own. MPI
  // raises errors on one of these where there is no communicator.
  const std::lock_guard lock(mutex_);
  const QuietErrors quiet_world(MPI_COMM_WORLD);
  const QuietErrors quiet_self(MPI_COMM_SELF);
  int is_intercommunicator = 0;
  return PMPI_Comm_test_inter(communicator, &is_intercommunicator) == MPI_SUCCESS;
}

void Session::finish_nonblocking(MPI_Comm communicator) {
  if (!NonblockingCalls::instance().is_busy()) return;
  Attachment* const attachment = find(communicator);
  if (attachment != nullptr) attachment->finish_nonblocking();
}

void Session::overlook(MPI_Comm communicator) noexcept {
  const std::lock_guard lock(mutex_);
  recent_.forget(communicator);
}

void Session::retire(Attachment& attachment) noexcept {
  const std::lock_guard lock(mutex_);
  attachment.next_retired_ = std::exchange(retired_, &attachment);
}

void Session::end_retired() noexcept {
  std::unique_lock lock(mutex_);
  Attachment* retired = std::exchange(retired_, nullptr);
  lock.unlock();
  while (retired != nullptr) delete std::exchange(retired, retired->next_retired_);
}

int Session::forget(MPI_Comm communicator, int /*key*/, void* value, void* /*state*/) {
  Session& session = instance();
  auto* const attachment = static_cast<Attachment*>(value);
  {
    const std::lock_guard lock(session.mutex_);
    std::erase(session.attachments_, attachment);
    session.known_.erase(communicator);
    recent_.forget(attachment);
  }
  attachment->lose_communicator();
  if (attachment->give_up()) delete attachment;
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
  for (Attachment* const attachment : attachments_) attachment->leave();
  PersistentCalls::instance().close();
  forget_committed();
  for (Attachment* const attachment : attachments_) attachment->close();
  NonblockingCalls::instance().finish_all();
  end_retired();
  NonblockingCalls::instance().close();
  if (settings_.reports()) {
    report_.set_place(ProcessMap::place_in_world());
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

// By the thread that calls MPI_Finalize, when no other one calls MPI.
void note_finalize() noexcept { is_finalizing.store(true, std::memory_order_relaxed); }

int raise_error(MPI_Comm communicator, const Error& error) {
  return raise_error(communicator, error_class(error), error.what());
}

int raise_error(MPI_Comm communicator, int error_class, std::string_view text) {
  int code = error_class;
  try {
    code = error_code_of(error_class, std::string("hycoll: ").append(text));
  } catch (const std::bad_alloc&) {  // the class has to do
  }
  PMPI_Comm_call_errhandler(communicator, code);
  return code;
}

}  // namespace hycoll::preload
