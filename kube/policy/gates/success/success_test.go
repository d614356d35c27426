package success

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/muster-project/muster/kube/policy/gates"
)

func one(value float64) []gates.Series { return []gates.Series{{Value: value}} }

func many(values ...float64) []gates.Series {
	var all []gates.Series
	for k, v := range values {
		all = append(all, gates.Series{Metric: map[string]string{"job": fmt.Sprint("job-", k)}, Value: v})
	}
	return all
}

func TestJudge(t *testing.T) {
	t.Parallel()
	const p, n, u = gates.Positive, gates.Negative, gates.Undecided
	for _, c := range []struct {
		why, text string
		in        []gates.Series
		want      gates.Verdict
		value     string
	}{
		{"a number below", "result < 0.01", one(0.001), p, "0.001"},
		{"a number above", "result < 0.01", one(0.5), n, "0.5"},
		{"a whole number in the expression", "result < 1", one(0.5), p, "0.5"},
		{"equal to a whole number", "result == 0", one(0), p, "0"},
		{"digits that do not tell", "result < 1", one(0.123456789), p, "0.1235"},
		{"arithmetic", "result * 100.0 <= 5.0", one(0.04), p, "0.04"},
		{"infinity is a number", "result < 10", one(math.Inf(1)), n, "+Inf"},
		{"no data decides nothing", "result < 1", nil, u, ""},
		{"NaN decides nothing", "result < 1", one(math.NaN()), u, "NaN"},
		{"neither does one NaN of several", "results.exists(s, s.value < 1)", many(0, math.NaN()), u, "2 series"},
		{"all of a list", "result.all(s, s.value < 0.01)", many(0.001, 0.002), p, "2 series"},
		{"not all of a list", "result.all(s, s.value < 0.01)", many(0.001, 0.2), n, "2 series"},
		{"by labels", `result.exists(s, s.metric["job"] == "job-1" && s.value > 5)`, many(1, 7), p, "2 series"},
		{"by labels as fields", `result.filter(s, s.metric.job.startsWith("job-")).size() == 2`, many(1, 7), p, "2 series"},
		{"a list where one sample came: results is always one", "results.all(s, s.value < 0.01)", one(0.001), p, "0.001"},
		{"a number where two samples came decides nothing", "result < 0.01", many(0, 0), u, "2 series"},
		{"a list where one sample came decides nothing", "result.all(s, s.value < 1)", one(0), u, "0"},
		{"a label that is not there decides nothing", `results.all(s, s.metric.zone == "a")`, one(0), u, "0"},
		{"and can be asked for", `results.all(s, has(s.metric.zone))`, one(0), n, "0"},
		{"something else than true or false", "results[0].value", one(1), u, "1"},
		{"without an expression a number passes", "", one(3), p, "3"},
		{"but 0 does not", "", one(0), n, "0"},
		{"nor one 0 of several", "", many(1, 0), n, "2 series"},
		{"nor nothing", "", nil, u, ""},
		{"nor NaN", "", one(math.NaN()), u, "NaN"},
	} {
		e, err := Compile(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.why, err)
			continue
		}
		got := e.Judge(t.Context(), c.in)
		if got.Verdict != c.want || got.Value != c.value || got.Message == "" {
			t.Errorf("%s: %q: want %s with value %q, got %+v", c.why, c.text, c.want, c.value, got)
		}
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ why, text, want string }{
		{"a slip", "resutl < 1", "undeclared reference to 'resutl'"},
		{"half an expression", "result <", "Syntax error"},
		{"a number", "1 + 1", "true or false, found one of type int"},
		{"a field of a number", "1.value == 2", "column 2: type 'int' does not support field selection"},
		{"a regular expression that is none", `"a".matches("(")`, "invalid matches argument"},
		{"an expression that is too long", strings.Repeat(" ", MaxLength) + "true", "exceeds limit"},
		{"an expression that is too deep", strings.Repeat("(", 40) + "true" + strings.Repeat(")", 40), "recursion"},
		{"loops in loops in loops", "results.all(a, results.all(b, results.all(c, true)))", "nesting"},
		{"a macro that builds lists", "results.map(s, [s, s]).size() > 0", "undeclared reference to 'map'"},
	} {
		_, err := Compile(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: want an error with %q on one line, got %v", c.why, c.want, err)
		}
	}
}

// TestBombs holds that an expression costs a bounded time, on the largest result.
func TestBombs(t *testing.T) {
	t.Parallel()
	large := make([]gates.Series, 1000)
	for k := range large {
		large[k] = gates.Series{Metric: map[string]string{"job": strings.Repeat("a", 500)}, Value: float64(k)}
	}
	double := "[1].map(a, [a, a])" + strings.Repeat(".map(a, [a, a])", 40)
	grow := `["aaaaaaaa"].map(a, a + a)` + strings.Repeat(".map(a, a + a)", 40)
	for _, c := range []struct {
		why, text string
		compiles  bool
	}{
		{"a list that doubles forty times and is compared", double + " == " + double, false},
		{"a text that doubles forty times", grow + `[0].size() > 0`, false},
		{"a loop in a loop", "results.all(a, results.all(b, a.value + b.value >= 0.0))", true},
		{"a loop in a loop that compares all", "results.all(a, results.all(b, results == results))", true},
		{"a regular expression that backtracks elsewhere", `results.all(s, s.metric.job.matches("(a*)*b|(a|aa)+$"))`, true},
		{"a regular expression that repeats", `results.all(s, !s.metric.job.matches("((a{30}){30})b"))`, true},
		{"many operands", "results.all(s, " + strings.Repeat("s.value >= 0.0 && ", 50) + "true)", true},
		{"deep parentheses", strings.Repeat("(", 500) + "true" + strings.Repeat(")", 500), false},
		{"deep negations", strings.Repeat("!", 1000) + "true", true},
		{"deep lists", strings.Repeat("[", 500) + strings.Repeat("]", 500) + " == 1", false},
	} {
		began := time.Now()
		e, err := Compile(c.text)
		if (err == nil) != c.compiles {
			t.Errorf("%s: want compiles %t, got %v", c.why, c.compiles, err)
		}
		if err == nil {
			e.Judge(t.Context(), large)
		}
		took := time.Since(began)
		if took > 5*time.Second {
			t.Errorf("%s: took %s", c.why, took)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("result < 0.01")
	f.Add(`results.all(s, s.metric["a"].matches("x.*") && s.value > 1)`)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Compile(text)
		if err != nil {
			return
		}
		for _, in := range [][]gates.Series{nil, one(1), many(1, 2)} {
			if got := e.Judge(t.Context(), in); got.Verdict == gates.Positive && len(in) == 0 {
				t.Errorf("%q passes without data", text)
			}
		}
	})
}
