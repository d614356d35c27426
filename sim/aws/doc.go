// Package aws simulates the parts of AWS that machine pools stand on: EC2, Auto Scaling, SSM parameters and STS, each in
// its own wire protocol, so that the SDKs of AWS talk to it unchanged through their endpoint setting.
//
// One http.Handler answers all services; the scope of a request's signature says which one, in which region and for which
// account. What an account holds is on disk before a reply is sent. Time passes by itself: instances boot, groups launch and
// replace, hooks time out, refreshes go on, all at sim.Speed.
//
// What is not simulated is refused with the service's own error for an unknown action or parameter, never ignored.
package aws
