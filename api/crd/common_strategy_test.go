package crd_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/muster-project/muster/api/common"
)

func TestLimitsOfRollingUpdates(t *testing.T) {
	t.Parallel()
	number, share, quoted, huge := intstr.FromInt32(3), intstr.FromString("25%"), intstr.FromString("2"),
		intstr.FromString("99999999999999999999%")
	negative := intstr.FromInt32(-3)
	type limit struct {
		value   int
		percent bool
	}
	for name, c := range map[string]struct {
		reason             string
		is                 *common.RollingUpdate
		surge, unavailable limit
	}{
		"absent":  {"a strategy of its type alone", nil, limit{1, false}, limit{0, false}},
		"empty":   {"an object that no schema filled in", &common.RollingUpdate{}, limit{1, false}, limit{0, false}},
		"numbers": {"as written", &common.RollingUpdate{MaxSurge: &number, MaxUnavailable: &number}, limit{3, false}, limit{3, false}},
		"shares":  {"as written", &common.RollingUpdate{MaxSurge: &share, MaxUnavailable: &share}, limit{25, true}, limit{25, true}},
		"quoted": {"the schema refuses it; it means nothing", &common.RollingUpdate{MaxSurge: &quoted, MaxUnavailable: &quoted}, limit{1, false},
			limit{0, false}},
		"huge": {"the schema refuses it; it means nothing", &common.RollingUpdate{MaxSurge: &huge, MaxUnavailable: &huge}, limit{1, false},
			limit{0, false}},
		"negative": {"the schema refuses it; there is nothing below none", &common.RollingUpdate{MaxSurge: &negative, MaxUnavailable: &negative},
			limit{0, false}, limit{0, false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var surge, unavailable limit
			surge.value, surge.percent = c.is.Surge()
			unavailable.value, unavailable.percent = c.is.Unavailable()
			if surge != c.surge || unavailable != c.unavailable {
				t.Errorf("%s: want surge %v and unavailable %v, got %v and %v", c.reason, c.surge, c.unavailable, surge, unavailable)
			}
		})
	}
}

func TestDeletePolicyOfRollingUpdates(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		is   *common.RollingUpdate
		want common.DeletePolicy
	}{{nil, common.DeletePolicyOldest}, {&common.RollingUpdate{}, common.DeletePolicyOldest},
		{&common.RollingUpdate{DeletePolicy: common.DeletePolicyNewest}, common.DeletePolicyNewest}} {
		if got := c.is.Policy(); got != c.want {
			t.Errorf("policy of %+v: want %s, got %s", c.is, c.want, got)
		}
	}
}
