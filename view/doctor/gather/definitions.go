package gather

import (
	"context"
	"fmt"
	"strings"

	"github.com/go-logr/logr"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/muster-project/muster/kube/definitions"
	"github.com/muster-project/muster/view/doctor"
)

// contractPrefix begins the contract labels of a definition: cluster.x-k8s.io/v1beta2.
const contractPrefix = "cluster.x-k8s.io/v"

// coreDefinitions are those of Cluster API's kinds that every controller reads.
var coreDefinitions = []string{"clusters", "machinepools", "machines"}

// definitions reads the definitions. They are compared later, when it is known where Muster's webhooks are.
func (g *gatherer) definitions(ctx context.Context) error {
	var list apiextensionsv1.CustomResourceDefinitionList
	if err := g.Client.List(ctx, &list); err != nil {
		return fmt.Errorf("list the CustomResourceDefinitions: %w", err)
	}
	found := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for i := range list.Items {
		found[list.Items[i].Name] = &list.Items[i]
	}
	for _, plural := range coreDefinitions {
		name := plural + "." + clusterv1.GroupVersion.Group
		g.found.Definitions = append(g.found.Definitions, doctor.Definition{Name: name, Core: true, Wants: clusterv1.GroupVersion.Version,
			Served: served(found[name])})
	}
	names, err := definitions.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		want, err := definitions.Expected(name)
		if err != nil {
			return err
		}
		d := doctor.Definition{Name: name, Served: served(found[name]), WantLabels: map[string]string{}}
		for key, value := range want.Labels {
			if strings.HasPrefix(key, contractPrefix) {
				d.WantLabels[key] = value
			}
		}
		if is := found[name]; is != nil {
			d.Labels = is.Labels
		}
		g.found.Definitions = append(g.found.Definitions, d)
	}
	return nil
}

func served(d *apiextensionsv1.CustomResourceDefinition) (versions []string) {
	if d == nil {
		return nil
	}
	for _, v := range d.Spec.Versions {
		if v.Served {
			versions = append(versions, v.Name)
		}
	}
	return versions
}

// conversions compares the definitions as a manager does when it starts.
func (g *gatherer) conversions(ctx context.Context) error {
	ctx = ctrl.LoggerInto(ctx, logr.Discard()) // what a comparison finds is a finding here, not a line of a log
	conversion := definitions.Conversion{Converted: g.converted()}
	if m := g.muster(); m != nil {
		conversion.Service = webhookService + "." + m.Namespace + ".svc"
	}
	checker := &definitions.Checker{Live: g.Client, Conversion: conversion}
	for i := range g.found.Definitions {
		d := &g.found.Definitions[i]
		if d.Core {
			continue
		}
		result, err := checker.Look(ctx, d.Name)
		if err != nil {
			return err
		}
		d.Message = result.Message()
	}
	return nil
}

func (g *gatherer) converted() (names []string) {
	for _, p := range g.Providers {
		names = append(names, p.Converted...)
	}
	return names
}
