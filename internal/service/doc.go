// Package service is the reference Conversational Agent Service: endpoints 1 to 3 of
// spec/service-interface.md (chats, messages, cancelling) as an [http.Handler]. It is written from
// the spec and shares no code with the client, so that one checks the other. Where the spec says
// "not shown" it does what a careful service would; the profile (spec/profile.md) is the client's side.
package service
