package azure

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/muster-project/muster/cloud/azure/model"
)

// lookupLength is in hex digits of what tells look-ups apart.
const lookupLength = 12

// image is what machines boot from, and what the object shall remember of it: which image a version of Kubernetes stands for may
// change with a new Muster, and that alone must replace no machine.
func (p *pass) image() (model.Image, map[string]string, error) {
	spec, version, windows := p.t.pool, p.t.KubernetesVersion, p.t.Spec.WindowsServerVersion
	if model.Named(spec) {
		found, err := model.ImageOf(spec, version, windows)
		return found, map[string]string{}, err
	}
	inputs, err := json.Marshal(model.ImageInputs(spec, version, windows))
	if err != nil {
		return model.Image{}, p.t.Remembered, fmt.Errorf("encode the inputs of the image look-up: %w", err)
	}
	sum := sha256.Sum256(inputs)
	key := "image-" + hex.EncodeToString(sum[:])[:lookupLength]
	if text := p.t.Remembered[key]; model.IsImage(text) {
		found, err := model.ParseImage(text)
		return found, map[string]string{key: text}, err
	}
	found, err := model.ImageOf(spec, version, windows)
	if err != nil {
		return model.Image{}, p.t.Remembered, err
	}
	text, err := found.Text()
	return found, map[string]string{key: text}, err
}
