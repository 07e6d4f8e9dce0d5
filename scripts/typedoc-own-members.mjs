// A plugin of typedoc: a class or an interface lists what it declares. What it inherits of a class, and inherited
// methods, are on the page of the type that declares them, which is linked; a grid would repeat all members of a
// communicator.
import { Converter, ReflectionKind } from 'typedoc'

/** @param {import('typedoc').Application} app */
export function load(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    const inherited = Object.values(project.reflections).filter(
      (member) =>
        member.inheritedFrom?.reflection !== undefined &&
        (member.kind === ReflectionKind.Method || isOfClass(member.inheritedFrom.reflection)),
    )
    for (const reflection of inherited) project.removeReflection(reflection)
  })
}

/** Whether a class declares a member, which interfaces between may hand on. */
const isOfClass = (member) =>
  member.parent?.kind === ReflectionKind.Class ||
  (member.inheritedFrom?.reflection !== undefined && isOfClass(member.inheritedFrom.reflection))
