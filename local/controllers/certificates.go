package controllers

import (
	"context"

	"k8s.io/kubernetes/pkg/controller/bootstrap"
	"k8s.io/kubernetes/pkg/controller/certificates/approver"
	"k8s.io/kubernetes/pkg/controller/certificates/cleaner"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/certificates/signer"
)

func (o Options) rootCA(_ context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	c, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), e.client, o.RootCA)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

// signers sign for the three signers that machines and their users ask: kubelet clients, kubelet servers, API clients.
func (o Options) signers(ctx context.Context, e *environment) (task, error) {
	requests := e.informers.Certificates().V1().CertificateSigningRequests()
	client, err := signer.NewKubeletClientCSRSigningController(ctx, e.client, requests, o.CACertFile, o.CAKeyFile, signedFor)
	if err != nil {
		return nil, err
	}
	serving, err := signer.NewKubeletServingCSRSigningController(ctx, e.client, requests, o.CACertFile, o.CAKeyFile, signedFor)
	if err != nil {
		return nil, err
	}
	api, err := signer.NewKubeAPIServerClientCSRSigningController(ctx, e.client, requests, o.CACertFile, o.CAKeyFile, signedFor)
	if err != nil {
		return nil, err
	}
	return together(
		func(ctx context.Context) { client.Run(ctx, workers) },
		func(ctx context.Context) { serving.Run(ctx, workers) },
		func(ctx context.Context) { api.Run(ctx, workers) },
	), nil
}

func approve(ctx context.Context, e *environment) (task, error) {
	c := approver.NewCSRApprovingController(ctx, e.client, e.informers.Certificates().V1().CertificateSigningRequests())
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func requestCleaner(_ context.Context, e *environment) (task, error) {
	c := cleaner.NewCSRCleanerController(e.client.CertificatesV1().CertificateSigningRequests(),
		e.informers.Certificates().V1().CertificateSigningRequests())
	return func(ctx context.Context) { c.Run(ctx, 1) }, nil
}

func bootstrapSigner(_ context.Context, e *environment) (task, error) {
	core := e.informers.Core().V1()
	c, err := bootstrap.NewSigner(e.client, core.Secrets(), core.ConfigMaps(), bootstrap.DefaultSignerOptions())
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

func tokenCleaner(_ context.Context, e *environment) (task, error) {
	c, err := bootstrap.NewTokenCleaner(e.client, e.informers.Core().V1().Secrets(), bootstrap.DefaultTokenCleanerOptions())
	if err != nil {
		return nil, err
	}
	return c.Run, nil
}

// together runs several tasks as one.
func together(tasks ...task) task {
	return func(ctx context.Context) {
		done := make(chan struct{}, len(tasks))
		for _, t := range tasks {
			go func() {
				defer func() { done <- struct{}{} }()
				t(ctx)
			}()
		}
		for range tasks {
			<-done
		}
	}
}
