// What the preloaded libraries must not have: tools/build/exit_destructors.sh finds both.

#include <string>

const std::string& static_text() {
  static const std::string text = std::string(40, 's');
  return text;
}

const std::string& text_of_thread() {
  static thread_local const std::string text = std::string(40, 't');
  return text;
}
