package memapi

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestRelisted holds what a process hears whose watch has expired.
func TestRelisted(t *testing.T) {
	t.Parallel()
	pod := func(name, version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, ResourceVersion: version}}
	}
	var got []string
	for _, e := range Relisted([]Event{
		{New: pod("stays", "1")}, {Old: pod("known", "0"), New: pod("known", "2")}, {New: pod("short", "3")},
		{Old: pod("stays", "1"), New: pod("stays", "4")},
		{Old: pod("short", "3")}, {Old: pod("gone", "0"), New: pod("gone", "5")}, {Old: pod("gone", "5")},
	}) {
		before, now := "-", "-"
		if e.Old != nil {
			before = e.Old.GetResourceVersion()
		}
		if e.New != nil {
			now = e.New.GetResourceVersion()
		}
		got = append(got, fmt.Sprint(before, ">", now))
	}
	if want := "->4 0>2 0>-"; strings.Join(got, " ") != want {
		t.Errorf("want the objects as they are now beside what was known, %q, got %q", want, strings.Join(got, " "))
	}
}
