package azure

import (
	"context"

	"github.com/muster-project/muster/cloud/azure/model"
	"github.com/muster-project/muster/cloud/cache"
)

// image is what machines boot from, and what the object shall remember of it: which image a version of Kubernetes stands for may
// change with a new Muster, and that alone must replace no machine.
func (p *pass) image(ctx context.Context) (model.Image, map[string]string, error) {
	spec, version, windows := p.t.pool, p.t.KubernetesVersion, p.t.Spec.WindowsServerVersion
	if model.Named(spec) {
		found, err := model.ImageOf(spec, version, windows)
		return found, map[string]string{}, err
	}
	look := &cache.Resolver{Shared: p.lookups, Now: p.now, Remembered: p.t.Remembered, Remember: map[string]string{}}
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
		return model.Image{}, p.t.Remembered, err
	}
	found, err := model.ParseImage(text)
	return found, look.Remember, err
}
