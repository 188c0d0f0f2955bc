#include "core/drawing/schedule_svg.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/schedule/packs.h"
#include "core/schedule/schedule_text.h"
#include "tests/core/drawing/svg_text.h"
#include "tests/core/verifier/examples.h"

namespace hycoll {
namespace schedule_svg_test {

using tests::count;
using tests::xml_problem;

/// The number behind `name="` at its first occurrence.
double attribute(std::string_view text, std::string_view name) {
  const std::string start = std::string(name) + "=\"";
  const std::size_t at = text.find(start);
  REQUIRE(at != std::string_view::npos);
  return std::stod(std::string(text.substr(at + start.size(), 20)));
}

TEST_CASE("the check for XML finds what is wrong") {
  CHECK(xml_problem("<a b=\"1\"><c/>x &amp; y</a>") == "");
  CHECK(xml_problem("<a><b></a></b>") == "unexpected /a");
  CHECK(xml_problem("<a>") == "open a");
  CHECK(xml_problem("<a>x > y</a>") == "stray >");
  CHECK(xml_problem("<a>x & y</a>") == "stray &");
  CHECK(xml_problem("<a b=\"1></a>") == "bad attributes in a b=\"1");
}

TEST_CASE("drawings are XML with a title for every step, at any size") {
  for (const Schedule& schedule : testing::all_examples()) {
    for (const std::size_t elements : {0, 1, 7, 1000000}) {
      CAPTURE(schedule.algorithm);
      CAPTURE(elements);
      const std::string svg =
          to_svg(schedule, Partition::balanced(elements, number_count(schedule)), 8);
      CHECK(xml_problem(svg) == "");
      CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
      CHECK(count(svg, "<title>") == schedule.step_count());
      CHECK(count(svg, "nan") == 0);
      CHECK(count(svg, "inf") == 0);
      CHECK(count(svg, "width=\"-") == 0);
      for (const Strand& strand : schedule.strands) {
        for (const Step& step : strand.steps) {
          if (step.kind != StepKind::copy) continue;
          std::string text = describe_step(schedule, step);
          text.replace(text.find('<'), 1, "&lt;");
          CHECK(count(svg, text) >= 1);
        }
      }
    }
  }
}

TEST_CASE("messages, signals and lines are arrows") {
  const auto draw = [](const Schedule& schedule) {
    return to_svg(schedule, Partition::uniform(1, number_count(schedule)), 8);
  };
  const std::string_view arrow = "class=\"arrow ";
  const std::string_view dashed = "class=\"arrow announce\"";
  CHECK(count(draw(testing::exchange_example()), arrow) == 2);
  CHECK(count(draw(testing::exchange_example()), dashed) == 0);
  CHECK(count(draw(testing::chain_example(4)), arrow) == 12);
  CHECK(count(draw(testing::central_example(3)), dashed) == 4);  // 2 arrive, 2 wait for the result
  CHECK(count(draw(testing::lines_example(3)), dashed) == 6);    // each from the two others
  CHECK(count(draw(testing::native_example(2)), arrow) == 4);
}

TEST_CASE("lanes are told apart by the colours of messages and the labels of strands") {
  const auto draw = [](const Schedule& schedule) {
    return to_svg(schedule, Partition::uniform(1, number_count(schedule)), 8);
  };
  const std::string one_lane = draw(testing::exchange_example());
  CHECK(count(one_lane, "class=\"arrow lane0\"") == 2);
  CHECK(count(one_lane, ">lane ") == 0);
  CHECK(count(one_lane, ", lane 0<") == 0);
  const std::string two_lanes = draw(testing::strands_example());
  CHECK(count(two_lanes, "class=\"arrow lane0\"") == 2);
  CHECK(count(two_lanes, "class=\"arrow lane1\"") == 2);
  CHECK(count(two_lanes, ">lane ") == 2);
  CHECK(count(two_lanes, ", lane 0<") == 2);
  CHECK(count(two_lanes, ", lane 1<") == 2);
  // Every class that is used is defined.
  for (const std::string_view rule :
       {".send{", ".recv{", ".reduce{", ".copy{", ".signal{", ".wait{", ".native{", ".bar{",
        ".arrow{", ".announce{", ".lane0{", ".lane1{"}) {
    CAPTURE(rule);
    CHECK(count(two_lanes, rule) == 1);
  }
}

TEST_CASE("boxes lie inside the drawing") {
  for (const Schedule& schedule : testing::all_examples()) {
    const std::string svg = to_svg(schedule, Partition::uniform(1000, number_count(schedule)), 8);
    const double width = attribute(svg, "width");
    const double height = attribute(svg, "height");
    for (std::size_t at = svg.find("</title><rect"); at != std::string::npos;
         at = svg.find("</title><rect", at + 1)) {
      const std::string_view box = std::string_view(svg).substr(at, 120);
      CHECK(attribute(box, " x") >= 0);
      CHECK(attribute(box, " x") + attribute(box, "width") <= width);
      CHECK(attribute(box, " y") + attribute(box, "height") <= height);
    }
  }
}

TEST_CASE("only the first nodes are drawn when there are too many workers") {
  const auto draw = [](const Schedule& schedule) {
    return to_svg(schedule, Partition::uniform(1, number_count(schedule)), 8);
  };
  const std::string all = draw(testing::native_example(kMaximumDrawnWorkers / 2));
  CHECK(count(all, "are drawn") == 0);
  CHECK(count(all, ">node ") == kMaximumDrawnWorkers / 2);
  const std::string some = draw(testing::native_example(kMaximumDrawnWorkers / 2 + 3));
  CHECK(count(some, "only the first 32 of 35 nodes are drawn") == 1);
  CHECK(count(some, ">node ") == kMaximumDrawnWorkers / 2);
  // One node is drawn whole.
  const std::string node = draw(testing::lines_example(kMaximumDrawnWorkers + 2));
  CHECK(count(node, ">worker ") == kMaximumDrawnWorkers + 2);
}

TEST_CASE("the root and the aggregators are named") {
  const auto draw = [](const Schedule& schedule) {
    return to_svg(schedule, Partition::uniform(1, number_count(schedule)), 8);
  };
  const std::string reduce = draw(testing::aggregator_example(Collective::reduce));
  CHECK(count(reduce, ">reduce aggregator<") == 1);
  CHECK(count(reduce, ">to member 1; 3 nodes") == 1);
  CHECK(count(reduce, ">node 1, aggregator<") == 1);
  CHECK(count(reduce, "aggregator<") == 2);
  CHECK(count(reduce, ">node ") == 3);
  const std::string allreduce = draw(testing::aggregator_example(Collective::allreduce));
  CHECK(count(allreduce, "to member") == 0);
}

TEST_CASE("names are escaped") {
  Schedule schedule = testing::exchange_example();
  schedule.algorithm = "a<b>&\"c\"";
  const std::string svg = to_svg(schedule, Partition::uniform(1, 1), 8);
  CHECK(xml_problem(svg) == "");
  CHECK(count(svg, "a&lt;b&gt;&amp;&quot;c&quot;") == 1);
}

}  // namespace schedule_svg_test
}  // namespace hycoll
