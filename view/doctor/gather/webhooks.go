package gather

import (
	"context"
	"fmt"
	"slices"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	kubewebhook "github.com/muster-project/muster/kube/webhook"
	"github.com/muster-project/muster/view/doctor"
)

const (
	// webhookService and webhookSecret are the names of the service and of the secret of its certificate.
	webhookService = "muster-webhook-service"
	webhookSecret  = "muster-webhook-service-cert"
	// webhookController is the name of the webhooks in --controllers, and coreController that of the core MachinePool controller.
	webhookController, coreController = "webhook", "machinepool"
)

// call is one webhook's name and where it is served.
type call struct {
	name   string
	config admissionregistrationv1.WebhookClientConfig
}

// webhooks reads the configurations that this build's manager serves, and what they call.
func (g *gatherer) webhooks(ctx context.Context) error {
	if m := g.muster(); m != nil && !runs(m, webhookController) {
		return nil
	}
	var hooks []kubewebhook.Hook
	for _, p := range g.Providers {
		hooks = append(hooks, p.Hooks...)
	}
	nowhere := func(string) admissionregistrationv1.WebhookClientConfig {
		return admissionregistrationv1.WebhookClientConfig{}
	}
	for _, want := range kubewebhook.Configurations(nowhere, hooks) {
		if !g.Local && ofCore(want.GetName()) && !runs(g.muster(), coreController) {
			continue
		}
		if err := g.configuration(ctx, want); err != nil {
			return err
		}
	}
	if err := g.conversionCalls(ctx); err != nil {
		return err
	}
	return g.services(ctx)
}

func ofCore(name string) bool {
	return name == kubewebhook.MutatingConfiguration || name == kubewebhook.ValidatingConfiguration
}

// runs reports whether a manager runs a controller; one that does not exist runs none, and without --controllers all run.
func runs(m *doctor.Manager, controller string) bool {
	return m != nil && (len(m.Controllers) == 0 || slices.Contains(m.Controllers, controller))
}

// configuration compares a webhook configuration with the wanted one.
func (g *gatherer) configuration(ctx context.Context, want client.Object) error {
	wantCalls := calls(want)
	is, _ := want.DeepCopyObject().(client.Object) // a copy has the type of its original
	c := doctor.Configuration{Object: fmt.Sprintf("%s %s", kindOf(want), want.GetName()), Exists: true}
	switch err := g.Client.Get(ctx, client.ObjectKeyFromObject(want), is); {
	case apierrors.IsNotFound(err):
		c.Exists = false
	case err != nil:
		return fmt.Errorf("read %s: %w", c.Object, err)
	default:
		found := calls(is)
		for _, one := range wantCalls {
			if !slices.ContainsFunc(found, func(f call) bool { return f.name == one.name }) {
				c.Missing = append(c.Missing, one.name)
			}
		}
		for _, one := range found {
			c.Calls = append(c.Calls, callOf(one.config.Service, one.config.URL, one.config.CABundle))
		}
	}
	g.found.Webhooks = append(g.found.Webhooks, c)
	return nil
}

// kindOf returns the kind of a webhook configuration.
func kindOf(o client.Object) string {
	if _, ok := o.(*admissionregistrationv1.MutatingWebhookConfiguration); ok {
		return "MutatingWebhookConfiguration"
	}
	return "ValidatingWebhookConfiguration"
}

// calls returns the webhooks of a configuration.
func calls(o client.Object) (list []call) {
	switch c := o.(type) {
	case *admissionregistrationv1.MutatingWebhookConfiguration:
		for _, w := range c.Webhooks {
			list = append(list, call{w.Name, w.ClientConfig})
		}
	case *admissionregistrationv1.ValidatingWebhookConfiguration:
		for _, w := range c.Webhooks {
			list = append(list, call{w.Name, w.ClientConfig})
		}
	}
	return list
}

func callOf(service *admissionregistrationv1.ServiceReference, url *string, bundle []byte) doctor.Call {
	if service == nil {
		return doctor.Call{URL: ptr.Deref(url, ""), CABundle: bundle}
	}
	return doctor.Call{Service: service.Namespace + "/" + service.Name, CABundle: bundle}
}

// conversionCalls are those of the definitions whose objects are converted by Muster. Others are compared with the definitions.
func (g *gatherer) conversionCalls(ctx context.Context) error {
	for _, name := range g.converted() {
		d := &apiextensionsv1.CustomResourceDefinition{}
		err := g.Client.Get(ctx, client.ObjectKey{Name: name}, d)
		if client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("read CustomResourceDefinition %s: %w", name, err)
		}
		conversion := d.Spec.Conversion
		if err != nil || conversion == nil || conversion.Webhook == nil || conversion.Webhook.ClientConfig == nil {
			continue
		}
		is := conversion.Webhook.ClientConfig
		c := doctor.Call{URL: ptr.Deref(is.URL, ""), CABundle: is.CABundle}
		if is.Service != nil {
			if is.Service.Name != webhookService {
				continue
			}
			c = doctor.Call{Service: is.Service.Namespace + "/" + is.Service.Name, CABundle: is.CABundle}
		}
		g.found.Webhooks = append(g.found.Webhooks, doctor.Configuration{Object: "Conversion of CustomResourceDefinition " + name,
			Exists: true, Calls: []doctor.Call{c}})
	}
	return nil
}

// services reads the services that are called.
func (g *gatherer) services(ctx context.Context) error {
	for _, c := range g.found.Webhooks {
		for _, one := range c.Calls {
			if _, known := g.found.Services[one.Service]; known || one.Service == "" {
				continue
			}
			s, err := g.service(ctx, keyOf(one.Service))
			if err != nil {
				return err
			}
			g.found.Services[one.Service] = s
		}
	}
	return nil
}

func (g *gatherer) service(ctx context.Context, key client.ObjectKey) (doctor.Service, error) {
	s := doctor.Service{Secret: key.Namespace + "/" + webhookSecret}
	err := g.Client.Get(ctx, key, &corev1.Service{})
	if apierrors.IsNotFound(err) {
		return s, nil
	}
	if err != nil {
		return s, fmt.Errorf("read service %s: %w", key, err)
	}
	s.Exists = true
	var slices discoveryv1.EndpointSliceList
	if err := g.Client.List(ctx, &slices, client.InNamespace(key.Namespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: key.Name}); err != nil {
		return s, fmt.Errorf("list the endpoints of service %s: %w", key, err)
	}
	for _, slice := range slices.Items {
		for _, e := range slice.Endpoints {
			if ptr.Deref(e.Conditions.Ready, true) {
				s.Ready += len(e.Addresses)
			}
		}
	}
	secret := &corev1.Secret{}
	err = g.Client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: webhookSecret}, secret)
	if client.IgnoreNotFound(err) != nil {
		s.SecretError = err.Error()
	}
	s.Certificate = secret.Data[corev1.TLSCertKey] // the certificate is public; the key stays behind
	return s, nil
}
