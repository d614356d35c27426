// Package launch translates the specification of an OCIMachinePool into an instance configuration of OCI, which its instances are launched
// from, and compares it with instance configurations that exist.
package launch
