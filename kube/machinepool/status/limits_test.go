package status

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

func TestValid(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason   string
		in, want metav1.Condition
	}{
		"as it is": {"what the API takes stays", metav1.Condition{Status: "False", Reason: "A_b,c:d", Message: "m"},
			metav1.Condition{Status: "False", Reason: "A_b,c:d", Message: "m"}},
		"no reason": {"the v1beta1 contract allows any reason", metav1.Condition{Status: "False", Reason: "quota exceeded (x)", Message: "m"},
			metav1.Condition{Status: "False", Reason: "NotReady", Message: "quota exceeded (x); m"}},
		"long reason": {"the API accepts 1024 bytes, v1beta1 256", metav1.Condition{Status: "Unknown", Reason: strings.Repeat("x", 300)},
			metav1.Condition{Status: "Unknown", Reason: "ReadyUnknown", Message: strings.Repeat("x", 300)}},
		"no status": {"providers may say anything", metav1.Condition{Status: "Maybe", Reason: "A"},
			metav1.Condition{Status: "Unknown", Reason: "A"}},
		"none": {"a reason has to be there", metav1.Condition{Status: "True"}, metav1.Condition{Status: "True", Reason: "Ready"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := valid(tc.in); got != tc.want {
				t.Errorf("%s: want %v, got %v", tc.reason, tc.want, got)
			}
		})
	}
}

// TestProviderMessagesAreCut holds that a long message of a provider, with multi-byte characters, does not prevent the status from
// being written.
func TestProviderMessagesAreCut(t *testing.T) {
	t.Parallel()
	f, pool := well(), &clusterv1.MachinePool{}
	long := strings.Repeat("ä€", 20_000)
	f.Infrastructure.Ready, f.Bootstrap.Ready = readyCondition("False", strings.Repeat("Long", 400), long),
		readyCondition("False", "Odd reason", long)
	f.Failure = &Cause{strings.Repeat("r", 5000), long}
	f.Nodes.NotReady, f.Nodes.Ready = []string{long, long}, 1
	f.ListedElsewhere = []string{long}
	f.apply(pool)
	check := func(what, text string, limit int) {
		if len(text) > limit || !utf8.ValidString(text) {
			t.Errorf("%s: want at most %d bytes of valid text, got %d", what, limit, len(text))
		}
	}
	for _, c := range pool.Status.Conditions {
		check(c.Type, c.Message, 4096)
		check(c.Type+"'s reason", c.Reason, 256)
	}
	for _, c := range pool.GetV1Beta1Conditions() {
		check("older "+string(c.Type), c.Message, 4096)
		check("older "+string(c.Type)+"'s reason", c.Reason, 256)
	}
	d := pool.Status.Deprecated.V1Beta1
	check("failure", *d.FailureMessage, 4096)
	check("failure's reason", string(*d.FailureReason), 256)
}

func TestFew(t *testing.T) {
	t.Parallel()
	one := errors.New("x")
	if got := Few(nil); got != nil {
		t.Errorf("want none of none, got %v", got)
	}
	got := Few([]error{one, one, one, one, one})
	if !errors.Is(got, one) || got.Error() != "x\nx\nx\nand 2 more" {
		t.Errorf("want three and a count, got %q", got)
	}
}
