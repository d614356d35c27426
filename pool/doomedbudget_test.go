package pool

import "testing"

// What the cloud is about to take does not serve any more: others wait for its successor.
func TestDoomedCountsAsMissing(t *testing.T) {
	checkAll(t, []row{
		{name: "one goes by the cloud's hand", why: "it is the one that may be missing", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(1, doomedOne), numbered("s", 2)...), newTemplate), want: "Drain i-1 (SpotInterruption)"},
		{name: "none goes", why: "one may be missing, and is replaced", d: wants(3, rolls(0, 1)),
			o: fleet(append(serving(1), numbered("s", 2)...), newTemplate), want: "Drain si-1 (TemplateChanged)"},
	})
}
