#include "tools/command/turns/channel.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/base/errors.h"

namespace hycoll::command {
namespace {

constexpr int kBacklog = 4096;

[[noreturn]] void fail(const std::string& what, const std::string& remedy) {
  throw Error(ErrorKind::environment,
              fmt::format("{} ({}). {}", what, std::strerror(errno), remedy));
}

FileDescriptor new_socket(int type) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | type, 0));
  if (socket.get() < 0) fail("a socket cannot be made", "Allow more open files (ulimit -n)");
  return socket;
}

/// Throws if the path is too long for a socket.
sockaddr_un address_of(const std::string& path) {
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw Error(
        ErrorKind::environment,
        fmt::format("'{}' is too long for the name of a socket. Let TMPDIR name a directory "
                    "with a shorter path",
                    path));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// A new directory of this user alone, with a path short enough for a socket in it.
std::string private_directory() {
  const char* const chosen = std::getenv("TMPDIR");
  std::string directory = fmt::format("{}/hycoll-XXXXXX", chosen != nullptr ? chosen : "/tmp");
  constexpr std::size_t kLongest = sizeof(sockaddr_un::sun_path) - sizeof("/socket");
  if (directory.size() > kLongest) directory = "/tmp/hycoll-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) {
    fail(fmt::format("'{}' cannot be made", directory),
         "Let TMPDIR name a directory that you may write to");
  }
  return directory;
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) close(number_);
}

FileDescriptor::FileDescriptor(FileDescriptor&& other) noexcept
    : number_(std::exchange(other.number_, -1)) {}

FileDescriptor& FileDescriptor::operator=(FileDescriptor&& other) noexcept {
  std::swap(number_, other.number_);
  return *this;
}

Channel Channel::connect(const std::string& path) {
  FileDescriptor socket = new_socket(0);
  const sockaddr_un address = address_of(path);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    fail(fmt::format("nobody listens at '{}'", path),
         "hycoll compare starts this program; it does not run by itself");
  }
  return Channel(std::move(socket));
}

void Channel::send(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t count =
        ::send(socket_.get(), line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("the other side of a comparison is gone", "Its messages may say why");
    sent += static_cast<std::size_t>(count);
  }
}

bool Channel::take_with(int flags) {
  std::array<char, 4096> buffer;
  for (;;) {
    const ssize_t count = recv(socket_.get(), buffer.data(), buffer.size(), flags);
    if (count > 0) text_.append(buffer.data(), static_cast<std::size_t>(count));
    if (count > 0) return true;
    if (count == 0) return false;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
    if (errno != EINTR) return false;
  }
}

bool Channel::take() { return take_with(MSG_DONTWAIT); }

std::optional<std::string> Channel::receive() {
  for (;;) {
    if (auto line = next_line()) return line;
    if (!take_with(0)) return std::nullopt;
  }
}

std::optional<std::string> Channel::next_line() {
  const std::size_t end = text_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = text_.substr(0, end);
  text_.erase(0, end + 1);
  return line;
}

Listener::Listener()
    : directory_(private_directory()),
      path_(directory_ + "/socket"),
      socket_(new_socket(SOCK_NONBLOCK)) {
  const sockaddr_un address = address_of(path_);
  if (bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(socket_.get(), kBacklog) != 0) {
    fail(fmt::format("nobody can listen at '{}'", path_),
         "Let TMPDIR name a directory that may hold sockets");
  }
}

Listener::~Listener() {
  unlink(path_.c_str());
  rmdir(directory_.c_str());
}

std::optional<Channel> Listener::accept() {
  FileDescriptor socket(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.get() < 0) return std::nullopt;
  return Channel(std::move(socket));
}

}  // namespace hycoll::command
