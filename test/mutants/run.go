package mutants

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// Most bounds how many scenarios a mutant may survive: one that lives longer counts as not noticed. It is
	// small, so that a slow machine has the time for all of them; mistakes that few lives show name one that does (from).
	Most = 300
	// MostFleets is the same for properties, whose random fleets cost next to nothing.
	MostFleets = 3000
	// cleanScenarios are those that the code as it is must pass in the same build.
	cleanScenarios = 100
	// patience with one run, beyond what Most scenarios take on a slow machine. Most mutants are noticed within seconds.
	patience = 15 * time.Minute
)

// Verdict is the outcome of one run.
type Verdict struct {
	// By is the oracle or the test that failed first, empty for none.
	By string
	// Scenarios counts the scenarios including the failing one. A test table counts as one.
	Scenarios int
	// Text is the failure message.
	Text string
}

// Run plays the binary with a mutation switched on until something fails.
func (b Built) Run(ctx context.Context, root string, m Mutation) (Verdict, error) {
	return b.play(ctx, root, m, m.In.most())
}

// Replay plays the one scenario that is the given one of those that Run plays, counted from 1.
func (b Built) Replay(ctx context.Context, root string, m Mutation, scenario int) (Verdict, error) {
	v, err := b.play(ctx, root, m.from(max(1, m.Seed)+scenario-1), 1)
	v.Scenarios = scenario
	return v, err
}

// most bounds the scenarios that a mutant can survive in the binary.
func (in Binary) most() int {
	if in == Pool {
		return MostFleets
	}
	return Most
}

// Clean plays the binary as it is: with no mutation switched on nothing may be noticed.
func (b Built) Clean(ctx context.Context, root string, in Binary, by []string) (Verdict, error) {
	return b.play(ctx, root, Mutation{In: in, By: by}, cleanScenarios)
}

func (b Built) play(ctx context.Context, root string, m Mutation, scenarios int) (Verdict, error) {
	in, name := m.In, m.Name
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, b[in], arguments(m, scenarios)...)
	cmd.Dir = filepath.Join(root, string(in))
	cmd.Env = append(os.Environ(), Variable+"="+name)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (ctx.Err() != nil || !errors.As(err, &exit)) {
		return Verdict{}, fmt.Errorf("run %s with mutation %q: %w", in, name, errors.Join(err, ctx.Err()))
	}
	v := read(in, string(out))
	if v.By == "" && err != nil {
		return v, fmt.Errorf("%s with mutation %q failed (%w) and named neither oracle nor test:\n%s", in, name, err, tail(out))
	}
	if v.By != "" && err == nil {
		return v, fmt.Errorf("%s with mutation %q reports that %s noticed something, and passed:\n%s", in, name, v.By, tail(out))
	}
	return v, nil
}

// tailLength is enough to see how a run ended.
const tailLength = 2000

func tail(out []byte) []byte { return out[max(0, len(out)-tailLength):] }

// arguments has one worker play seed after seed until the first violation, or the given tests stop at their first failure.
func arguments(m Mutation, scenarios int) []string {
	if m.In == Explore {
		args := []string{"-test.run", "TestExplore$", "-n", strconv.Itoa(scenarios), "-seed", strconv.Itoa(max(1, m.Seed)), "-stop"}
		if m.Kind != "" {
			args = append(args, "-kind", m.Kind)
		}
		if m.Extra {
			args = append(args, "-extra")
		}
		return args
	}
	args := []string{"-test.run", "^(" + strings.Join(m.By, "|") + ")$", "-test.failfast"}
	if m.In == Pool {
		args = append(args, "-rapid.seed=1", "-rapid.checks="+strconv.Itoa(scenarios))
	}
	return args
}

var (
	violation = regexp.MustCompile(`(?m)^violation seed=\d+ scenarios=(\d+) oracle="([^"]*)": (.*)$`)
	failed    = regexp.MustCompile(`(?m)^--- FAIL: (\w+)`)
	property  = regexp.MustCompile(`\[rapid\] failed after (\d+) tests: (.*)`)
	output    = regexp.MustCompile(`(?m)^ +\w+_test\.go:\d+: (.*)$`)
)

// read returns the first failure of a run.
func read(in Binary, out string) Verdict {
	if in == Explore {
		found := violation.FindStringSubmatch(out)
		if found == nil {
			return Verdict{}
		}
		n, _ := strconv.Atoi(found[1])
		return Verdict{By: found[2], Scenarios: n, Text: found[3]}
	}
	test := failed.FindStringSubmatch(out)
	if test == nil {
		return Verdict{}
	}
	v := Verdict{By: test[1], Scenarios: 1}
	if text := output.FindStringSubmatch(out); text != nil {
		v.Text = text[1]
	}
	if found := property.FindStringSubmatch(out); found != nil {
		n, _ := strconv.Atoi(found[1])
		v.Scenarios, v.Text = n+1, found[2]
	}
	return v
}
