#include "core/network/yaml_subset.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/network/input_place.h"
#include "core/network/text_lines.h"

namespace hycoll {
namespace {

/// Deeper nesting is a mistake; it must not be one of the stack.
constexpr int kMostLevels = 16;

/// A line with something in it.
struct Content {
  int line;
  std::size_t indent;     ///< Blanks before it.
  std::string_view text;  ///< Without comment, and blanks at its end.
};

/// Slurm's mappings have six at most.
constexpr std::size_t kMostKeys = 64;

bool is_item(std::string_view text) { return text == "-" || text.starts_with("- "); }

YamlNode empty_node(YamlNode::Kind kind, int line) {
  YamlNode node;
  node.kind = kind;
  node.line = line;
  return node;
}

YamlNode scalar(int line, std::string_view text) {
  YamlNode node = empty_node(YamlNode::Kind::scalar, line);
  node.text = text;
  return node;
}

/// The colon behind a key; npos if there is none.
std::size_t end_of_key(std::string_view text) {
  if (text.starts_with('"') || text.starts_with('\'')) {
    const std::size_t quote = text.find(text.front(), 1);
    const bool is_key = quote != std::string_view::npos && text.substr(quote + 1).starts_with(':');
    return is_key ? quote + 1 : std::string_view::npos;
  }
  for (std::size_t colon = text.find(':'); colon != std::string_view::npos;
       colon = text.find(':', colon + 1)) {
    if (colon + 1 == text.size() || text[colon + 1] == ' ' || text[colon + 1] == '\t') return colon;
  }
  return std::string_view::npos;
}

bool is_block(std::string_view text) {
  return is_item(text) || end_of_key(text) != std::string_view::npos;
}

class Parser {
 public:
  Parser(std::string_view text, const std::string& file) : file_(file) {
    for (const TextLine& line : lines_of(text)) {
      if (!add(line)) break;
    }
  }

  YamlNode parse() {
    if (contents_.empty()) fail(1, "the document is empty; expected '- topology: NAME'");
    YamlNode node = parse_block(contents_.front().indent, 1);
    if (at_ < contents_.size()) {
      fail(here().line, fmt::format("'{}' is indented by {} blanks, less than what it follows; "
                                    "expected {}",
                                    here().text, here().indent, contents_.front().indent));
    }
    return node;
  }

 private:
  [[noreturn]] void fail(int line, const std::string& problem) const {
    InputPlace{.file = file_, .line = line}.fail(problem);
  }

  Content& here() { return contents_[at_]; }
  bool is_at(std::size_t indent) const {
    return at_ < contents_.size() && contents_[at_].indent == indent;
  }

  /// Where a comment begins: at a '#' outside of quotes, at the beginning or behind a blank.
  std::size_t comment_of(const TextLine& line) const {
    char quote = '\0';
    for (std::size_t i = 0; i < line.text.size(); ++i) {
      const char c = line.text[i];
      const bool is_first =
          i == 0 || std::string_view(" \t:,[").find(line.text[i - 1]) != std::string_view::npos;
      if (quote != '\0') {
        if (c == quote) quote = '\0';
      } else if ((c == '"' || c == '\'') && is_first) {
        quote = c;
      } else if (c == '#' && (i == 0 || line.text[i - 1] == ' ' || line.text[i - 1] == '\t')) {
        return i;
      }
    }
    if (quote != '\0')
      fail(line.number,
           fmt::format("a quote {} is not closed; expected it on the same line", quote));
    return line.text.size();
  }

  /// Whether the document goes on behind the line.
  bool add(const TextLine& line) {
    if (line.text.starts_with("...")) return false;
    std::string_view text = line.text.substr(0, comment_of(line));
    text = text.substr(0, text.find_last_not_of(" \t\r") + 1);
    const std::size_t indent = std::min(text.find_first_not_of(' '), text.size());
    text.remove_prefix(indent);
    if (text == "---" && indent == 0) {
      if (!contents_.empty()) {
        fail(line.number, "a second document begins; expected one, with all topologies");
      }
      return true;
    }
    if (text.starts_with('\t')) fail(line.number, "a tab indents; expected blanks");
    if (!text.empty()) contents_.push_back({.line = line.number, .indent = indent, .text = text});
    return true;
  }

  /// What stands at this indentation, from here on.
  YamlNode parse_block(std::size_t indent, int level) {
    if (level > kMostLevels) {
      fail(here().line, fmt::format("there are more than {} levels; expected those of Slurm's file",
                                    kMostLevels));
    }
    YamlNode node =
        is_item(here().text) ? parse_sequence(indent, level) : parse_mapping(indent, level);
    if (at_ < contents_.size() && here().indent > indent) {
      fail(here().line, fmt::format("'{}' is indented by {} blanks; expected {} or less",
                                    here().text, here().indent, indent));
    }
    return node;
  }

  YamlNode parse_sequence(std::size_t indent, int level) {
    YamlNode node = empty_node(YamlNode::Kind::sequence, here().line);
    while (is_at(indent) && is_item(here().text)) {
      Content& item = here();
      const std::size_t first = item.text.find_first_not_of(' ', 1);
      if (first == std::string_view::npos) {
        ++at_;
        node.items.push_back(parse_below(indent, item.line, level));
        continue;
      }
      // What follows the dash is a block whose first line begins there.
      item.text.remove_prefix(first);
      item.indent += first;
      if (is_block(item.text)) {
        node.items.push_back(parse_block(item.indent, level + 1));
      } else {
        node.items.push_back(value_of(item.text, item.line));
        ++at_;
      }
    }
    return node;
  }

  YamlNode parse_mapping(std::size_t indent, int level) {
    YamlNode node = empty_node(YamlNode::Kind::mapping, here().line);
    while (is_at(indent) && !is_item(here().text)) {
      const Content entry = here();
      const std::size_t end = end_of_key(entry.text);
      if (end == std::string_view::npos) {
        fail(entry.line,
             fmt::format("'{}' is no entry; expected 'KEY: VALUE' or 'KEY:'", entry.text));
      }
      const YamlNode key = value_of(entry.text.substr(0, end), entry.line);
      if (key.kind != YamlNode::Kind::scalar || key.text.empty()) {
        fail(entry.line, fmt::format("'{}' is no key; expected 'KEY: VALUE'", entry.text));
      }
      if (const YamlNode* const first = node.find(key.text)) {
        fail(entry.line, fmt::format("key '{}' stands in line {} already; expected it once",
                                     key.text, first->line));
      }
      if (node.entries.size() == kMostKeys) {
        fail(entry.line,
             fmt::format("there are more than {} keys; expected those of Slurm's file", kMostKeys));
      }
      ++at_;
      std::string_view value = entry.text.substr(end + 1);
      value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
      node.entries.push_back({.key = key.text,
                              .line = entry.line,
                              .value = value.empty() ? parse_below_key(indent, entry.line, level)
                                                     : value_of(value, entry.line)});
    }
    return node;
  }

  /// What belongs to a key or dash at the end of a line: what is indented further, or nothing.
  YamlNode parse_below(std::size_t indent, int line, int level) {
    if (at_ == contents_.size() || here().indent <= indent) return scalar(line, {});
    const Content first = here();
    if (is_block(first.text)) return parse_block(first.indent, level + 1);
    ++at_;
    return value_of(first.text, first.line);
  }

  /// A sequence may stand right below its key.
  YamlNode parse_below_key(std::size_t indent, int line, int level) {
    if (is_at(indent) && is_item(here().text)) return parse_block(indent, level + 1);
    return parse_below(indent, line, level);
  }

  YamlNode value_of(std::string_view text, int line) const {
    if (!text.starts_with('[')) return scalar_of(text, line);
    YamlNode node = empty_node(YamlNode::Kind::sequence, line);
    if (!text.ends_with(']'))
      fail(line, fmt::format("'{}' has no ]; expected it at the end of the line", text));
    text = text.substr(1, text.size() - 2);
    if (text.find_first_of("[]{}") != std::string_view::npos) {
      fail(line, fmt::format("'[{}]' has brackets in brackets; expected names or numbers between "
                             "commas, or host lists on lines of their own",
                             text));
    }
    while (!text.empty()) {
      const std::size_t comma = std::min(text.find(','), text.size());
      std::string_view item = text.substr(0, comma);
      item.remove_prefix(std::min(item.find_first_not_of(" \t"), item.size()));
      item = item.substr(0, item.find_last_not_of(" \t") + 1);
      if (item.empty())
        fail(line,
             fmt::format("an item before '{}]' is empty; expected names or numbers between commas",
                         text));
      node.items.push_back(scalar_of(item, line));
      text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return node;
  }

  YamlNode scalar_of(std::string_view text, int line) const {
    if (std::string_view("&*!|>{}%@`?").find(text.front()) != std::string_view::npos) {
      fail(line, fmt::format("'{}' begins with a character that this reader of YAML does not know; "
                             "expected plain or quoted text",
                             text));
    }
    const bool is_quoted = text.front() == '"' || text.front() == '\'';
    if (is_quoted) {
      const std::size_t end = text.find(text.front(), 1);
      if (end != text.size() - 1 || text.find('\\') != std::string_view::npos) {
        fail(line, fmt::format("{} is no quoted text without escapes; expected one", text));
      }
      text = text.substr(1, text.size() - 2);
    }
    return scalar(line, text);
  }

  const std::string& file_;
  std::vector<Content> contents_;
  std::size_t at_ = 0;
};

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &YamlEntry::key);
  return found == entries.end() ? nullptr : &found->value;
}

YamlNode parse_yaml_subset(std::string_view text, const std::string& file) {
  return Parser(text, file).parse();
}

}  // namespace hycoll
