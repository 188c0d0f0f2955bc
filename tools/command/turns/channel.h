#ifndef HYCOLL_TOOLS_COMMAND_TURNS_CHANNEL_H_
#define HYCOLL_TOOLS_COMMAND_TURNS_CHANNEL_H_

#include <optional>
#include <string>

namespace hycoll::command {

/// A file descriptor that is closed with the object.
class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) noexcept : number_(number) {}
  ~FileDescriptor();
  FileDescriptor(FileDescriptor&& other) noexcept;
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;

  int get() const noexcept { return number_; }

 private:
  int number_;
};

/// Lines of text, both ways, between two processes of one machine. Used by one thread. Errors are
/// Error (environment).
class Channel {
 public:
  /// To the listener at a path. Throws if nobody listens there.
  static Channel connect(const std::string& path);

  explicit Channel(FileDescriptor socket) noexcept : socket_(std::move(socket)) {}

  /// For poll.
  int descriptor() const noexcept { return socket_.get(); }

  /// Sends a line, given without its end. Throws if the other side is gone.
  void send(std::string line);

  /// Sleeps until there is a line, which is returned without its end; empty when the other side has
  /// gone.
  std::optional<std::string> receive();

  /// Takes what has arrived, without waiting. Returns false when the other side has gone.
  bool take();

  /// The next of the lines that have been taken.
  std::optional<std::string> next_line();

 private:
  bool take_with(int flags);

  FileDescriptor socket_;
  std::string text_;
};

/// Where channels of other processes of this user arrive: a socket in a directory of its own.
class Listener {
 public:
  /// Throws Error (environment) if there is no place for a socket.
  Listener();
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const std::string& path() const noexcept { return path_; }
  int descriptor() const noexcept { return socket_.get(); }

  /// The channel of somebody who has connected; empty if nobody has.
  std::optional<Channel> accept();

 private:
  std::string directory_;
  std::string path_;
  FileDescriptor socket_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_TURNS_CHANNEL_H_
