package ownership

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	awsv1 "github.com/muster-project/muster/api/aws/v1beta2"
)

func TestOlder(t *testing.T) {
	t.Parallel()
	made := func(uid, id string, after time.Duration) client.Object {
		return &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), CreationTimestamp: metav1.NewTime(time.Unix(0, 0).Add(after)),
			Annotations: map[string]string{Annotation: id}}}
	}
	for name, tc := range map[string]struct {
		reason string
		a, b   client.Object
		want   bool
	}{
		"first owner":       {"the object whose UID is the ID came first, whatever the clock was", made("x", "x", time.Hour), made("y", "x", 0), true},
		"copy":              {"a copy was not", made("y", "x", 0), made("x", "x", time.Hour), false},
		"both moved":        {"of two that were moved the older counts", made("y", "x", 0), made("z", "x", time.Hour), true},
		"at the same time":  {"and otherwise any order will do, as long as it is one", made("y", "x", 0), made("z", "x", 0), true},
		"the other of both": {"", made("z", "x", 0), made("y", "x", 0), false},
	} {
		if got := older(tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %s: want %v, got %v", name, tc.reason, tc.want, got)
		}
	}
}

// FuzzOwner holds that of two objects that carry one owner ID exactly one comes first, whatever the ID is, and that it is the
// one whose ID it is if there is such a one.
func FuzzOwner(f *testing.F) {
	f.Add("uid-1", "uid-1", "uid-2", int64(10), int64(5))
	f.Add("other", "uid-1", "uid-2", int64(5), int64(5))
	f.Add("", "a", "b", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, id, uidA, uidB string, atA, atB int64) {
		if uidA == uidB {
			return
		}
		object := func(uid string, at int64) client.Object {
			return &awsv1.AWSMachinePool{ObjectMeta: metav1.ObjectMeta{UID: types.UID(uid), CreationTimestamp: metav1.Unix(at, 0), Annotations: map[string]string{Annotation: id}}}
		}
		a, b := object(uidA, atA), object(uidB, atB)
		if older(a, b) == older(b, a) {
			t.Errorf("want one of %q and %q first, got %t twice", uidA, uidB, older(a, b))
		}
		if id == uidA && !older(a, b) || id == uidB && !older(b, a) {
			t.Errorf("want the object whose ID %q it is first", id)
		}
	})
}
