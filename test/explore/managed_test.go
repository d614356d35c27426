package explore

import (
	"testing"

	"github.com/muster-project/muster/test/explore/world"
)

func TestManaged(t *testing.T) {
	for _, s := range world.GoldenManaged() {
		t.Run(s.Name, func(t *testing.T) {
			got := world.Play(t, s, world.Options{})
			t.Log(got.Trace)
			for _, v := range got.Wrong {
				t.Errorf("%s: %s", v.Oracle, v.Text)
			}
		})
	}
}
