package azure

import (
	"context"
	"time"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cache"
)

// image returns what machines boot from, and what the object has to remember of it: the image of a version of Kubernetes may change with
// a new release of Muster, and that alone must replace no machine.
func (t target) image(ctx context.Context, lookups *cache.Lookups, now time.Time) (model.Image, map[string]string, error) {
	spec, version, windows := t.pool, t.KubernetesVersion, t.Spec.WindowsServerVersion
	if model.Named(spec) {
		found, err := model.ImageOf(spec, version, windows)
		return found, map[string]string{}, err
	}
	look := &cache.Resolver{Shared: lookups, Now: now, Remembered: t.Remembered, Remember: map[string]string{}}
	text, err := look.Resolve(ctx, cache.Question{
		Kind: "image", Inputs: model.ImageInputs(spec, version, windows), Good: model.IsImage,
		Ask: func(context.Context) (string, error) {
			found, err := model.ImageOf(spec, version, windows)
			if err != nil {
				return "", err
			}
			return found.Text()
		},
	})
	if err != nil {
		return model.Image{}, t.Remembered, err
	}
	found, err := model.ParseImage(text)
	return found, look.Remember, err
}
