// Package project is the core of the simulated Google Cloud: what all services of a project share. It has Google's errors, requests
// and answers, routes, filters and pages, operations, the clock and the numbering, and locations.
//
// Dependencies between the services run one way: container uses compute; both use project. Each service has one Service value, which
// embeds the Core and holds the service's tables.
package project
