package commands

import (
	"context"
	"fmt"
	"io"
	"os"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/muster-project/muster/local/clouds/all"
	"github.com/muster-project/muster/local/seed"
)

// manifests returns the objects that seed a world: those in the files, or the built-in pools with these names. Variables in files take
// their value from the environment, or else from the simulated accounts.
func manifests(clouds, files, pools []string, stdin io.Reader) ([]seed.Object, error) {
	if len(files) == 0 {
		return seed.Builtin(all.Accounts(clouds...), pools)
	}
	sources, err := seed.Read(files, stdin)
	if err != nil {
		return nil, err
	}
	objects, err := parse(clouds, sources)
	if err != nil {
		return nil, err
	}
	if len(objects) == 0 {
		return nil, fmt.Errorf("manifests: no object in %v", files)
	}
	return objects, nil
}

// parse replaces variables by values from the environment, or else from the simulated accounts.
func parse(clouds []string, sources []seed.Source) ([]seed.Object, error) {
	return seed.Parse(sources, seed.Lookups(os.LookupEnv, seed.FromMap(all.Accounts(clouds...).Variables())))
}

// sow applies the objects that the record does not have yet, with the clusters that they name and that no manifest contains. report is
// called for each.
func sow(ctx context.Context, c client.Client, record *seed.Record, clouds []string, objects []seed.Object,
	report func(seed.Object, bool)) error {
	complete, err := seed.AddClusters(all.Accounts(clouds...), objects, func(namespace, name string) (bool, error) {
		cluster := &clusterv1.Cluster{}
		err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, cluster)
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		return err
	}
	return (&seed.Applier{Client: c, Record: record, OnApplied: report}).Apply(ctx, complete)
}
