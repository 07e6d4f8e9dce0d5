// A plugin of typedoc: a class lists what it declares and what interfaces add to it. What it inherits from
// another class is on the page of that class, which is linked; a grid would repeat all members of a
// communicator.
import { Converter, ReflectionKind } from 'typedoc'

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const inherited = Object.values(project.reflections).filter(({ parent, inheritedFrom }) => {
      const origin = inheritedFrom?.reflection?.parent
      return parent?.kind === ReflectionKind.Class && origin?.kind === ReflectionKind.Class
    })
    for (const reflection of inherited) project.removeReflection(reflection)
  })
}
