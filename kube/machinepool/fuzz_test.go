package machinepool

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// FuzzRecordGone holds that for any value of the annotation the time from which the deletion of Nodes counts is not in the future, and is
// the same in the next pass.
func FuzzRecordGone(f *testing.F) {
	for _, text := range []string{"", "2030-01-02T03:04:05Z", "2030-01-02T03:04:05.5+02:00", "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z",
		"never"} {
		f.Add(text, int64(1_893_553_445))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64) {
		now := time.Unix(unix%(1<<34), 0).UTC()
		pool := &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{goneAnnotation: text}}}
		since := recordGone(pool, now)
		if since.After(now) {
			t.Fatalf("%q: want a time by %s, got %s", text, now, since)
		}
		if at, err := time.Parse(time.RFC3339, text); err == nil && !at.After(now) && !since.Equal(at) {
			t.Errorf("%q: want the time that is written down, got %s", text, since)
		}
		now = now.Add(time.Hour)
		if again := recordGone(pool, now); now.Year() > 0 && now.Year() < 10000 && !again.Equal(since) {
			t.Errorf("%q: want the same in the next pass, got %s, then %s", text, since, again)
		}
	})
}
