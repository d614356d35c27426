package machinepool_test

import (
	"slices"
	"testing"

	"github.com/muster-project/muster/kube/machinepool/members"
)

func TestDistinct(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why      string
		ids      []string
		distinct []string
	}{
		{"the first spelling of an instance stays", []string{"aws:///a/i-1", "aws:////i-1", "aws:///a/i-2"},
			[]string{"aws:///a/i-1", "aws:///a/i-2"}},
		{"empty IDs name no instance", []string{"", "aws:///a/i-1", ""}, []string{"aws:///a/i-1"}},
		{"an ID without a key is compared as it is", []string{"x", "y", "x"}, []string{"x", "y"}},
		{"an empty list", nil, nil},
	} {
		if got := members.DistinctInstances(tc.ids); !slices.Equal(got, tc.distinct) {
			t.Errorf("%s: want %v, got %v", tc.why, tc.distinct, got)
		}
	}
}

func TestSame(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		why  string
		a, b []string
		same bool
	}{
		{"the same list", []string{"aws:///a/i-1", "aws:///a/i-2"}, []string{"aws:///a/i-1", "aws:///a/i-2"}, true},
		{"another order", []string{"aws:///a/i-1", "aws:///a/i-2"}, []string{"aws:///a/i-2", "aws:///a/i-1"}, true},
		{"another spelling", []string{"aws:///a/i-1"}, []string{"aws:////i-1"}, true},
		{"another instance", []string{"aws:///a/i-1"}, []string{"aws:///a/i-2"}, false},
		{"one instance more", []string{"aws:///a/i-1"}, []string{"aws:///a/i-1", "aws:///a/i-2"}, false},
		{"an instance twice", []string{"aws:///a/i-1", "aws:///a/i-2"}, []string{"aws:///a/i-1", "aws:///a/i-1"}, false},
		{"two empty lists", nil, []string{}, true},
	} {
		if got := members.SameInstances(tc.a, tc.b); got != tc.same {
			t.Errorf("%s: want %t, got %t", tc.why, tc.same, got)
		}
	}
}
