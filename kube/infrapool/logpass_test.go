package infrapool

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/engine"
	"github.com/muster-project/muster/pool"
)

// TestRefusedDrainIsNoRefusalOfTheCloud: an eviction that times out is logged as what it is.
func TestRefusedDrainIsNoRefusalOfTheCloud(t *testing.T) {
	t.Parallel()
	for kind, want := range map[pool.StepKind]string{pool.Drain: "the workload cluster refuses", pool.Resize: "the cloud refuses"} {
		var logs []string
		log := funcr.New(func(_, args string) { logs = append(logs, args) }, funcr.Options{})
		logPass(ctrl.LoggerInto(t.Context(), log), engine.Outcome{NewError: errors.New("timed out"),
			Plan: pool.Plan{Step: &pool.Step{Kind: kind}}})
		if len(logs) != 1 || !strings.Contains(logs[0], `"`+want+`"`) {
			t.Errorf("%s: want %q logged, got %v", kind, want, logs)
		}
	}
}
