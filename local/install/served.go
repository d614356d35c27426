package install

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
)

// servedPause spaces the reads of the discovery documents. servedStall bounds the time in which none of the missing kinds appears.
const servedPause, servedStall = 50 * time.Millisecond, 2 * time.Minute

// untilServed returns once the API server serves every definition in all its served versions. It reads the discovery documents of the
// versions: a definition itself is a hundred times as large, and encoding all of them takes the API server more processor time than
// installing them.
func untilServed(ctx context.Context, config *rest.Config, definitions []*unstructured.Unstructured) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("create a discovery client: %w", err)
	}
	missing, err := servedVersions(definitions)
	if err != nil {
		return err
	}
	pause := time.NewTicker(servedPause)
	defer pause.Stop()
	for since := time.Now(); ; {
		before := len(missing)
		last := leaveServed(client, missing)
		switch {
		case len(missing) == 0:
			return nil
		case len(missing) < before:
			since = time.Now()
		case time.Since(since) > servedStall:
			return errors.Join(fmt.Errorf("want all kinds served, and none of the missing ones came in %v: %s", servedStall, list(missing)), last)
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("want all kinds served, %s: %w", list(missing), ctx.Err()), last)
		case <-pause.C:
		}
	}
}

// leaveServed takes from missing what the API server serves. The error is of versions whose document could not be read.
func leaveServed(client discovery.DiscoveryInterface, missing map[string][]string) error {
	var unread error
	for version, resources := range missing {
		left, err := notServed(client, version, resources)
		if err != nil {
			unread = err
			continue
		}
		if missing[version] = left; len(left) == 0 {
			delete(missing, version)
		}
	}
	return unread
}

// servedVersions returns the resources of definitions by the group and version that they are to be served in.
func servedVersions(definitions []*unstructured.Unstructured) (map[string][]string, error) {
	all := map[string][]string{}
	for _, d := range definitions {
		group, _, err := unstructured.NestedString(d.Object, "spec", "group")
		if err != nil {
			return nil, fmt.Errorf("read the definition %s: %w", d.GetName(), err)
		}
		versions, _, err := unstructured.NestedSlice(d.Object, "spec", "versions")
		if err != nil {
			return nil, fmt.Errorf("read the definition %s: %w", d.GetName(), err)
		}
		resource, _, _ := strings.Cut(d.GetName(), ".") // the API server accepts no other name
		for _, v := range versions {
			if v, ok := v.(map[string]any); ok && v["served"] == true {
				version := fmt.Sprintf("%s/%s", group, v["name"])
				all[version] = append(all[version], resource)
			}
		}
	}
	return all, nil
}

// notServed returns which resources the API server does not serve in a version.
func notServed(client discovery.DiscoveryInterface, version string, resources []string) ([]string, error) {
	found, err := client.ServerResourcesForGroupVersion(version)
	if apierrors.IsNotFound(err) {
		return resources, nil
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(slices.Clone(resources), func(name string) bool {
		return slices.ContainsFunc(found.APIResources, func(r metav1.APIResource) bool { return r.Name == name })
	}), nil
}

// list names resources with their versions.
func list(resources map[string][]string) string {
	var all []string
	for _, version := range slices.Sorted(maps.Keys(resources)) {
		for _, name := range resources[version] {
			all = append(all, name+" in "+version)
		}
	}
	return "not served: " + strings.Join(all, ", ")
}
