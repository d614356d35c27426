package definitions

import (
	"fmt"
	"io/fs"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/muster-project/muster/api/crd"
)

// providerFiles match the definitions of the infrastructure kinds, of bootstrap kinds and of Muster's own; those of the core that match too
// begin with coreFiles.
var providerFiles = []string{"infrastructure.cluster.x-k8s.io_*.yaml", "bootstrap.cluster.x-k8s.io_*.yaml", "muster.dev_*.yaml"}

const coreFiles = "bootstrap.cluster.x-k8s.io_kubeadm"

// Names returns the names of the definitions that this build installs.
func Names() ([]string, error) {
	var names []string
	for _, pattern := range providerFiles {
		files, err := fs.Glob(crd.Files, pattern)
		if err != nil {
			return nil, fmt.Errorf("list the definitions: %w", err)
		}
		for _, file := range files {
			if strings.HasPrefix(file, coreFiles) {
				continue
			}
			group, plural, _ := strings.Cut(strings.TrimSuffix(file, ".yaml"), "_")
			names = append(names, plural+"."+group)
		}
	}
	return names, nil
}

// Expected returns this build's definition of a name, PLURAL.GROUP.
func Expected(name string) (*apiextensionsv1.CustomResourceDefinition, error) {
	plural, group, _ := strings.Cut(name, ".")
	data, err := crd.Files.ReadFile(group + "_" + plural + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("definition %s is not part of this build: %w", name, err)
	}
	d := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(data, d); err != nil {
		return nil, fmt.Errorf("definition %s: %w", name, err)
	}
	return d, nil
}
