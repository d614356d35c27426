package explore

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muster-project/muster/test/explore/record"
	"github.com/muster-project/muster/test/explore/world"
)

// total sums up the work of all workers.
var total = &sums{steps: map[string]record.Cost{}}

type sums struct {
	sync.Mutex
	// seed is the lowest seed.
	seed                                    uint64
	scenarios, faults, calls, passes, wrong int
	virtual                                 time.Duration
	steps                                   map[string]record.Cost
	failures                                []string
}

// add adds the outcome of one scenario, and returns the number of failures so far.
func (s *sums) add(seed uint64, got world.Result) int {
	s.Lock()
	defer s.Unlock()
	if s.scenarios == 0 || seed < s.seed {
		s.seed = seed
	}
	s.scenarios++
	s.faults += got.Faults
	s.calls += got.Calls
	s.passes += got.Passes
	s.virtual += got.Virtual
	for name, c := range got.Steps {
		s.steps[name] = record.Cost{Times: s.steps[name].Times + c.Times, Calls: s.steps[name].Calls + c.Calls}
	}
	if len(got.Wrong) > 0 {
		s.wrong++
		s.failures = append(s.failures, fmt.Sprintf("| %d | %s | %s |", seed, got.Wrong[0].Oracle,
			strings.ReplaceAll(got.Wrong[0].Text, "\n", " ")))
	}
	return s.wrong
}

func (s *sums) count() int {
	s.Lock()
	defer s.Unlock()
	return s.scenarios
}

func (s *sums) line() string {
	return fmt.Sprintf("scenarios=%d faults=%d calls=%d virtual=%s violations=%d", s.scenarios, s.faults, s.calls,
		s.virtual.Round(time.Second), s.wrong)
}

// write writes the report of a run, if one is wanted.
func (s *sums) write(file string) error {
	if file == "" {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# Exploration\n\n| scenarios | faults | virtual hours | passes | calls to the cloud | violations |\n| --- | --- | --- "+
		"| --- | --- | --- |\n")
	fmt.Fprintf(&b, "| %d | %d | %.0f | %d | %d | %d |\n", s.scenarios, s.faults, s.virtual.Hours(), s.passes, s.calls, s.wrong)
	if len(s.failures) > 0 {
		slices.Sort(s.failures)
		fmt.Fprintf(&b, "\n## Failures\n\nReplay one with `go test ./test/explore -run Replay -v -seed N`.\n\n| seed | oracle | finding |\n| "+
			"--- | --- | --- |\n%s\n", strings.Join(s.failures, "\n"))
	}
	b.WriteString("\n## Calls\n\n| step | begun | calls to the cloud | calls a step |\n| --- | --- | --- | --- |\n")
	for _, name := range slices.Sorted(maps.Keys(s.steps)) {
		c := s.steps[name]
		fmt.Fprintf(&b, "| %s | %d | %d | %.2f |\n", name, c.Times, c.Calls, float64(c.Calls)/float64(c.Times))
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
