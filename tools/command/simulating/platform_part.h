#ifndef HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_PART_H_
#define HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_PART_H_

#include <string>
#include <string_view>
#include <vector>

namespace hycoll::command {

/// KEY=VALUE of a part; without a key what stands by itself.
struct PlatformValue {
  std::string key;
  std::string text;
};

/// A part of a platform's description, "KIND:VALUE,KEY=VALUE,...". Whoever knows the kind takes the
/// values. Errors are Error (invalid_argument), whose messages begin with title().
class PlatformPart {
 public:
  /// `where`: the file and line, or the option. Errors: a key that is given twice, or is empty.
  PlatformPart(std::string_view text, std::string where);

  const std::string& kind() const noexcept { return kind_; }
  const std::string& where() const noexcept { return where_; }
  /// The place and the kind.
  std::string title() const { return where_ + ": " + kind_; }
  /// All that follows the kind, as it stands there.
  const std::string& rest() const noexcept { return rest_; }

  /// Takes over the values of a further part of the same kind. Errors: a key of both.
  void add(const PlatformPart& part);

  [[noreturn]] void fail(const std::string& problem) const;

  /// Takes the value of a key; the default if it is not given.
  int take_number(std::string_view key, int usual, int minimum, int maximum);
  double take_rate(std::string_view key, double usual_gb_per_s);
  double take_time(std::string_view key, double usual_us);
  /// At least 1.
  double take_ratio(std::string_view key, double usual);
  /// What stands by itself, "" if nothing does.
  std::string take_bare();
  /// The same as whole numbers, "8x8x8"; their product is `most` at most. `expected` is an example.
  std::vector<int> take_sizes(std::string_view expected, int most);
  std::vector<PlatformValue> take_all();

  /// A value as a whole number.
  int number(const PlatformValue& value, int minimum, int maximum) const;

  /// Errors: there are values that nobody has taken.
  void check_all_used() const;

 private:
  void add(PlatformValue value);
  /// Null if it is not given; otherwise valid until the next one is taken.
  const PlatformValue* take(std::string_view key);

  std::string where_;
  std::string kind_;
  std::string rest_;
  std::vector<PlatformValue> values_;
  std::vector<std::string> taken_keys_;
  PlatformValue taken_;
};

}  // namespace hycoll::command

#endif  // HYCOLL_TOOLS_COMMAND_SIMULATING_PLATFORM_PART_H_
