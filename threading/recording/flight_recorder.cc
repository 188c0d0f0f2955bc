#include "threading/recording/flight_recorder.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <new>

#include "core/base/lifetime.h"
#include "threading/observing/call_site.h"

namespace hycoll {
namespace {

/// A part of the file, or, where there is none, memory of the process's own. Null if there is none.
void* mapped(int file, std::size_t begin, std::size_t bytes) {
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, file,
                            file < 0 ? 0 : static_cast<off_t>(begin));
  return memory == MAP_FAILED ? nullptr : memory;
}

void set_name(MemberRecord& record, std::string_view name) {
  const std::size_t length = std::min(name.size(), record.name.size() - 1);
  for (std::size_t c = 0; c < record.name.size(); ++c) {
    record.name[c].store(c < length ? name[c] : '\0', std::memory_order_relaxed);
  }
}

}  // namespace

FlightRecorder& FlightRecorder::here() {
  static Immortal<FlightRecorder> recorder;
  return *recorder;
}

void FlightRecorder::leave_parent() {
  if (header_ == nullptr || process_ == getpid()) return;
  if (file_ >= 0) close(file_);
  file_ = -1;
  header_ = nullptr;
  record_count_ = 0;
  vacant_.clear();
}

bool FlightRecorder::grow() {
  if (header_ == nullptr) {
    file_ = memfd_create(kCallRecordsName, MFD_CLOEXEC);
    if (file_ >= 0 && ftruncate(file_, CallRecordsHeader::kChunkBytes) != 0) {
      close(file_);
      file_ = -1;
    }
    void* const begin = mapped(file_, 0, CallRecordsHeader::kChunkBytes);
    if (begin == nullptr) return false;
    header_ = ::new (begin) CallRecordsHeader;
    process_ = getpid();
    header_->process.store(process_, std::memory_order_relaxed);
    header_->record_bytes.store(sizeof(MemberRecord), std::memory_order_relaxed);
    header_->magic.store(kCallRecordsMagic, std::memory_order_relaxed);
  }
  constexpr std::size_t kAtOnce = CallRecordsHeader::kRecordsInChunk;
  constexpr std::size_t kChunkBytes = CallRecordsHeader::kChunkBytes;
  const std::size_t begin = CallRecordsHeader::place_of(record_count_);
  if (file_ >= 0 && ftruncate(file_, static_cast<off_t>(begin + kChunkBytes)) != 0) return false;
  auto* const memory = static_cast<std::byte*>(mapped(file_, begin, kChunkBytes));
  if (memory == nullptr) return false;
  // Those of all chunks, so that giving one back takes no memory.
  vacant_.reserve(record_count_ + kAtOnce);
  for (std::size_t r = kAtOnce; r-- > 0;) {
    vacant_.push_back(::new (memory + r * sizeof(MemberRecord)) MemberRecord);
  }
  record_count_ += kAtOnce;
  // Pairs with the acquiring load of readers.
  header_->record_count.store(record_count_, std::memory_order_release);
  return true;
}

MemberRecord* FlightRecorder::vacant_record() {
  if (vacant_.empty() && !grow()) return nullptr;
  MemberRecord* const record = vacant_.back();
  vacant_.pop_back();
  return record;
}

std::shared_ptr<MemberRecord> FlightRecorder::record(const RecordedMember& member) noexcept {
  try {
    CallSite::want();
    const std::lock_guard lock(mutex_);
    leave_parent();
    MemberRecord* const taken = vacant_record();
    if (taken == nullptr) return nullptr;
    taken->entered.store(0, std::memory_order_relaxed);
    taken->left.store(0, std::memory_order_relaxed);
    taken->late_since_ns.store(0, std::memory_order_relaxed);
    taken->rank.store(member.rank, std::memory_order_relaxed);
    taken->size.store(member.size, std::memory_order_relaxed);
    set_name(*taken, member.name);
    // Pairs with the acquiring load of readers.
    taken->communicator.store(member.communicator, std::memory_order_release);
    return {taken, [this](MemberRecord* record) { give_back(*record); }};
  } catch (const std::exception&) {
    return nullptr;  // no memory for the bookkeeping
  }
}

void FlightRecorder::give_back(MemberRecord& record) noexcept {
  record.communicator.store(0, std::memory_order_relaxed);
  const std::lock_guard lock(mutex_);
  if (process_ != getpid()) return;  // it is in the parent's file
  vacant_.push_back(&record);        // there was room when it was made
}

}  // namespace hycoll
