"""The HTTP border: blueprints, parsing, answers, errors. Only here is Flask imported.

How to add a route (``health.py`` is the model to copy):

1. ``bp = Blueprint("name", __name__)`` at module level, added to ``BLUEPRINTS`` in ``app.py``.
2. Below the route decorator, ``@describe(...)`` from ``openapi.py`` names the pydantic models from
   which ``/openapi.json`` is made. They document only: no request is parsed or refused by them::

       @bp.post("/memory")
       @describe("Memory", answers={201: StoreAnswer, 409: ErrorAnswer}, body=MemoryBody)
       def store() -> Response:
           \"\"\"Store a memory.\"\"\"          # first line: the summary in the document
           body = json_body("JSON body is required")
           warnings = unknown_fields(body, known_names(MemoryBody))
           ...
           return answer({"status": "success", ...}, warnings, status=201)

3. A query string is read through ``Query`` of ``requests.py``::

       query = query_string(RecallQuery)     # refuses NUL, notes unknown parameters in its warnings
       limit = query.count("limit", default=5, low=1, high=100)
       flag = query.flag("expand_relations", "expand", default=False)
       tags = query.names("tags")
       return answer(payload, query.warnings)

   Several names are aliases: the first with a value that is not blank counts. A malformed number or
   an unknown word of an enum raises ``InvalidInput``, which becomes the 400 of D1.

4. Faults are raised, not returned: any ``AutoMemError``; ``errors.py`` turns it into the envelope of
   D3 with the request's id. ``services()`` of ``context.py`` gives the ``Services`` of this process;
   ``require_admin()`` of ``automem/security/guards.py`` guards an admin route.
"""
