#include "tools/command/line/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace hycoll::command {
namespace {

constexpr std::size_t kBarColumns = 32;
constexpr auto kRedrawInterval = std::chrono::milliseconds(100);
constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

ProgressBar::ProgressBar(std::size_t total)
    : visible_(isatty(STDERR_FILENO) == 1), total_(std::max<std::size_t>(total, 1)) {}

ProgressBar::~ProgressBar() {
  if (visible_) fmt::print(stderr, "{}", kEraseLine);
}

void ProgressBar::advance(std::size_t count) {
  const std::lock_guard lock(mutex_);
  done_ = std::min(done_ + count, total_);
  if (std::chrono::steady_clock::now() - drawn_ >= kRedrawInterval) draw();
}

void ProgressBar::set(std::size_t done, std::size_t total) {
  const std::lock_guard lock(mutex_);
  total_ = total;
  done_ = std::min(done, total);
}

void ProgressBar::set_label(const std::string& label) {
  const std::lock_guard lock(mutex_);
  label_ = label;
  draw();
}

void ProgressBar::draw() {
  if (!visible_) return;
  drawn_ = std::chrono::steady_clock::now();
  std::string bar;
  for (std::size_t column = 0; column < kBarColumns; ++column) {
    bar += column * total_ < done_ * kBarColumns ? "█" : "░";
  }
  fmt::print(stderr, "{}{} {:3d} % {}", kEraseLine, bar, 100 * done_ / total_, label_);
  std::fflush(stderr);
}

}  // namespace hycoll::command
