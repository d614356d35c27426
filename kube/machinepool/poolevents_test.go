package machinepool_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	"github.com/muster-project/muster/kube/machinepool/status"
)

// TestManyNodesMakeOneShortEvent holds that a change of thousands of Nodes is one event that the API accepts.
func TestManyNodesMakeOneShortEvent(t *testing.T) {
	t.Parallel()
	after := &clusterv1.MachinePoolStatus{}
	for n := range 5000 {
		after.NodeRefs = append(after.NodeRefs, corev1.ObjectReference{Name: strings.Repeat("ä", 120) + fmt.Sprint(n)})
	}
	recorder := events.NewFakeRecorder(10)
	changes := status.EventsOf(&clusterv1.MachinePoolStatus{}, after, status.Facts{}, status.Outcome{}, false)
	status.RecordEvents(recorder, &clusterv1.MachinePool{}, changes)
	if len(recorder.Events) != 1 {
		t.Fatalf("want one event, got %d", len(recorder.Events))
	}
	note := strings.TrimPrefix(<-recorder.Events, "Normal "+status.NodeRefsChanged+" ")
	if len(note) > status.NoteLimit || !strings.HasSuffix(note, "...") {
		t.Errorf("want at most %d bytes, cut, got %d: %s", status.NoteLimit, len(note), note)
	}
}
